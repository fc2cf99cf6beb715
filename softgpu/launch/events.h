/* crocgpu events: what the software GPU's counters count. */
#ifndef LAUNCH_EVENTS_H
#define LAUNCH_EVENTS_H

/* `arguments` follow the word "events": GPU names, none means gfx90a. Returns an exit status. */
int events_command(int count, char **arguments);

#endif
