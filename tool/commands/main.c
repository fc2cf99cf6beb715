/* crocprof, by whatever name it is called. */
#include "avail/inside.h"
#include "avail/rocprofv3_avail.h"
#include "launch/launch.h"
#include "table.h"

int main(int argc, char **argv)
{
    launch_signals_take();
    inside_note(argc, argv);
    if (argc > 0 && rocprofv3_avail_is(argv[0]))
        return rocprofv3_avail_main(argc, argv);
    if (argc > 0 && rocpd_is(argv[0]))
        return rocpd_run(argc, argv);
    return commands_run(argc, argv);
}
