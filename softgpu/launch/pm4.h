/* The command `crocgpu pm4`; arguments are those after its name. Returns the exit status. */
#ifndef LAUNCH_PM4_H
#define LAUNCH_PM4_H

int pm4_command(int argc, char **argv);

#endif
