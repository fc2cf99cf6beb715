/* crocprof, by whatever name it is called. */
#include "launch/launch.h"
#include "table.h"

int main(int argc, char **argv)
{
    launch_signals_take();
    return commands_run(argc, argv);
}
