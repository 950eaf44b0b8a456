/* What this machine is called. */
#ifndef AUTOTUNE_PROCESSOR_H
#define AUTOTUNE_PROCESSOR_H

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The name of the processor; where the system states none, the kind of machine. */
static void name_processor(char *name, size_t size)
{
    FILE *const file = fopen("/proc/cpuinfo", "r");
    char line[512];
    struct utsname machine;
    name[0] = '\0';
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        const char *const colon = strncmp(line, "model name", 10) ? NULL : strchr(line, ':');
        if (!colon)
            continue;
        const char *const begin = colon + 1 + strspn(colon + 1, " \t");
        snprintf(name, size, "%.*s", (int)strcspn(begin, "\n"), begin);
        break;
    }
    if (file)
        fclose(file);
    if (!name[0] && !uname(&machine))
        snprintf(name, size, "%s", machine.machine);
}

#endif
