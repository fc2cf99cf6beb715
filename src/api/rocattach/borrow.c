#include "borrow.h"

#include "image.h"

#include "base/log.h"
#include "base/wait.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <linux/futex.h>

enum {
    PICK_SECONDS = 5,  /* for a thread to come to a place where it may be taken */
    STOP_SECONDS = 5,  /* for it to stop */
    CALL_SECONDS = 10, /* for a call to return */
    NAP_NS = 200000,
    KERNEL_RESTARTS_FIRST = 512, /* -ERESTARTSYS ... -ERESTART_RESTARTBLOCK: it will do it again */
    KERNEL_RESTARTS_LAST = 516,
    RED_ZONE_BYTES = 128,
    SYSCALL_INSTRUCTION_BYTES = 2,
    SIGNAL_RETURN_BYTES = 9,          /* of the two instructions that image_signal_return finds */
    SIGNAL_CONTEXT_STACK_SEGMENT = 6, /* the kernel's UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
    SIGNAL_STACK_INVALID = 16,        /* refused: the thread keeps the one it has */
    SYSTEM_CALL_STOP = SIGTRAP | 0x80,
    FXSAVE_BYTES = 512,
    FXSAVE_FOR_SOFTWARE = 464, /* from here on; zero says that no more than fxsave's is there */
    CODE_SELECTOR_64 = 0x33,
};

static rocattach_status_t status_of(int error)
{
    return error == EPERM || error == EACCES ? ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED
           : error == ESRCH || error == ENOENT ? ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND
                                               : ROCATTACH_STATUS_ERROR_PTRACE_ERROR;
}

/* ---- which thread */

/* System calls under which libc holds no lock of its own, and which go on as if nothing had been
 * when they were interrupted: programs wait in them. Locks wait in another kind of futex call. */
static bool is_harmless(long number, uint64_t second_argument)
{
    switch (number) {
    case SYS_restart_syscall: /* one of those below that take a time, interrupted before */
    case SYS_pause:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_poll:
    case SYS_select:
    case SYS_wait4:
    case SYS_waitid:
        return true;
    case SYS_futex:
        return (second_argument & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    case SYS_ioctl:
        return (second_argument >> 8 & 0xff) == 'K'; /* AMDKFD; its library tries again */
    default:
        return false;
    }
}

static bool file_read(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    bool read = file && fgets(text, (int)size, file);
    if (file)
        fclose(file);
    return read;
}

static bool thread_is_listener(const char *task)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "%s/comm", task);
    return file_read(path, name, sizeof name) && !strcmp(name, "rocp-bg-attach\n");
}

static bool thread_waits_harmlessly(const char *task)
{
    char path[64], text[256];
    long number;
    unsigned long long first, second;
    snprintf(path, sizeof path, "%s/syscall", task);
    return file_read(path, text, sizeof text) &&
           sscanf(text, "%ld %llx %llx", &number, &first, &second) == 3 &&
           is_harmless(number, second);
}

/* 0: no thread may be taken just now. */
static pid_t thread_pick(pid_t pid)
{
    char folder[32], task[48];
    pid_t found = 0;
    bool best = false;
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(folder);
    for (struct dirent *entry; tasks && !best && (entry = readdir(tasks));) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        if (tid <= 0)
            continue;
        snprintf(task, sizeof task, "%s/%d", folder, (int)tid);
        if (!thread_waits_harmlessly(task))
            continue;
        best = thread_is_listener(task);
        if (best || !found)
            found = tid;
    }
    if (tasks)
        closedir(tasks);
    return found;
}

/* ---- stopping it */

struct stop {
    pid_t tid;
    int *status;
    int outcome; /* 1: it stopped, -1: it is gone */
};

static bool stop_or_end(void *argument)
{
    struct stop *stop = argument;
    pid_t got = waitpid(stop->tid, stop->status, __WALL | WNOHANG);
    if (got == stop->tid)
        stop->outcome = WIFSTOPPED(*stop->status) ? 1 : -1;
    else if (got < 0 && errno != EINTR)
        stop->outcome = -1;
    return stop->outcome != 0;
}

/* 1: it stopped, 0: not in time, -1: it is gone. */
static int stop_wait(pid_t tid, int *status, unsigned seconds)
{
    struct stop stop = {.tid = tid, .status = status};
    wait_until(stop_or_end, &stop, seconds * WAIT_NS_PER_S, NAP_NS);
    return stop.outcome;
}

static bool is_our_interrupt(int status)
{
    return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
}

/* Signals that arrive meanwhile are the program's. */
static rocattach_status_t thread_stop(pid_t tid)
{
    int status;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        return status_of(errno);
    for (;;) {
        int stopped = stop_wait(tid, &status, STOP_SECONDS);
        if (stopped < 0)
            return ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND;
        if (stopped == 0)
            return ROCATTACH_STATUS_ERROR_PTRACE_ERROR;
        if (is_our_interrupt(status) || WSTOPSIG(status) == SYSTEM_CALL_STOP)
            return ROCATTACH_STATUS_SUCCESS;
        if (status >> 16 == PTRACE_EVENT_STOP) {
            log_error("rocattach", "process of thread %d is stopped: let it go on first", (int)tid);
            return ROCATTACH_STATUS_ERROR;
        }
        if (ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)WSTOPSIG(status)) != 0)
            return status_of(errno);
    }
}

static bool waits_still(const struct user_regs_struct *registers)
{
    int64_t result = (int64_t)registers->rax, number = (int64_t)registers->orig_rax;
    if (!is_harmless(number, registers->rsi))
        return false;
    return (result <= -KERNEL_RESTARTS_FIRST && result >= -KERNEL_RESTARTS_LAST) ||
           (number == SYS_ioctl && result == -EINTR);
}

static bool state_save(struct borrowed *borrowed)
{
    struct iovec state = {borrowed->state, sizeof borrowed->state};
    if (ptrace(PTRACE_GETREGSET, borrowed->tid, (void *)NT_X86_XSTATE, &state) != 0 ||
        ptrace(PTRACE_GETSIGMASK, borrowed->tid, (void *)sizeof borrowed->signals,
               &borrowed->signals) != 0)
        return false;
    borrowed->state_size = state.iov_len;
    return true;
}

/* The program's signal handlers must not run in a call of ours. */
static bool signals_block(const struct borrowed *borrowed)
{
    uint64_t all = UINT64_MAX;
    return ptrace(PTRACE_SETSIGMASK, borrowed->tid, (void *)sizeof all, &all) == 0;
}

static void thread_release(pid_t tid)
{
    ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

/* LAST: this thread cannot be taken, another one may be. */
static rocattach_status_t thread_take(struct borrowed *borrowed)
{
    pid_t tid = borrowed->tid;
    if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0)
        return errno == ESRCH ? ROCATTACH_STATUS_LAST : status_of(errno);
    rocattach_status_t status = thread_stop(tid);
    if (status == ROCATTACH_STATUS_SUCCESS) {
        if (ptrace(PTRACE_GETREGS, tid, NULL, &borrowed->registers) != 0)
            status = status_of(errno);
        else if (borrowed->registers.cs != CODE_SELECTOR_64)
            status = ROCATTACH_STATUS_ERROR_NOT_SUPPORTED;
        else if (!waits_still(&borrowed->registers))
            status = ROCATTACH_STATUS_LAST;
        else if (!state_save(borrowed))
            status = status_of(errno);
    }
    borrowed->place = BORROWED_WAITS;
    borrowed->in_system_call = false;
    if (status != ROCATTACH_STATUS_SUCCESS)
        thread_release(tid);
    return status;
}

struct pick {
    struct borrowed *borrowed;
    pid_t pid;
    rocattach_status_t status; /* LAST: no thread yet */
};

static bool pick_try(void *argument)
{
    struct pick *pick = argument;
    pick->borrowed->tid = thread_pick(pick->pid);
    pick->status = pick->borrowed->tid ? thread_take(pick->borrowed) : ROCATTACH_STATUS_LAST;
    return pick->status != ROCATTACH_STATUS_LAST;
}

rocattach_status_t borrow_begin(struct borrowed *borrowed, pid_t pid)
{
    struct pick pick = {.borrowed = borrowed, .pid = pid};
    if (wait_until(pick_try, &pick, PICK_SECONDS * WAIT_NS_PER_S, NAP_NS))
        return pick.status;
    log_error("rocattach",
              "process %d has no thread that waits where it may be taken; start it with "
              "ROCP_TOOL_ATTACH=1 to give it one",
              (int)pid);
    return ROCATTACH_STATUS_ERROR;
}

/* ---- calls
 *
 * A call returns into libc's return from a signal handler, with a frame on the stack as the kernel
 * makes one for a handler. So the thread puts everything back by itself, whatever becomes of us: at
 * no moment does the process depend on our being there. While we are, the thread is stopped before
 * it does so, because only we can let it wait on without its having been interrupted. */

/* On the stack, as the kernel lays it out from the return address on; of the context it reads the
 * beginning, as far as eight bytes into the signal mask. */
struct signal_frame {
    uint64_t unused; /* so that the stack has the alignment that functions expect */
    uint64_t return_address;
    ucontext_t context;
    _Alignas(64) unsigned char vectors[FXSAVE_BYTES];
};

/* Which system call the thread waits in. One that was interrupted before and continued has lost its
 * number; the instruction before it tells, as libc's wrappers are compiled. */
static uint64_t wait_number(const struct borrowed *borrowed)
{
    enum { MOV_EAX = 0xb8 };
    const struct user_regs_struct *registers = &borrowed->registers;
    struct __attribute__((packed)) {
        uint8_t opcode;
        uint32_t number;
    } before = {0};
    uint64_t at = registers->rip - SYSCALL_INSTRUCTION_BYTES - sizeof before;
    bool told = registers->orig_rax == SYS_restart_syscall &&
                memory_read(borrowed->memory, at, &before, sizeof before) &&
                before.opcode == MOV_EAX && is_harmless(before.number, registers->rsi);
    return told ? before.number : registers->orig_rax;
}

/* The registers with which the kernel itself would make the system call again. `interrupted`: the
 * wait's own state is gone, so a time that it was given begins anew. */
static struct user_regs_struct registers_waiting(const struct borrowed *borrowed, bool interrupted)
{
    struct user_regs_struct registers = borrowed->registers;
    int64_t result = (int64_t)registers.rax;
    if (result <= -KERNEL_RESTARTS_FIRST && result >= -KERNEL_RESTARTS_LAST) {
        bool continues = result == -KERNEL_RESTARTS_LAST && !interrupted;
        registers.rax = continues ? SYS_restart_syscall : wait_number(borrowed);
        registers.rip -= SYSCALL_INSTRUCTION_BYTES;
    }
    registers.orig_rax = UINT64_MAX; /* no system call is in progress */
    return registers;
}

static void context_fill(ucontext_t *context, const struct user_regs_struct *r)
{
    const struct {
        int name;
        uint64_t value;
    } values[] = {
        {REG_R8, r->r8},
        {REG_R9, r->r9},
        {REG_R10, r->r10},
        {REG_R11, r->r11},
        {REG_R12, r->r12},
        {REG_R13, r->r13},
        {REG_R14, r->r14},
        {REG_R15, r->r15},
        {REG_RDI, r->rdi},
        {REG_RSI, r->rsi},
        {REG_RBP, r->rbp},
        {REG_RBX, r->rbx},
        {REG_RDX, r->rdx},
        {REG_RAX, r->rax},
        {REG_RCX, r->rcx},
        {REG_RSP, r->rsp},
        {REG_RIP, r->rip},
        {REG_EFL, r->eflags},
        {REG_CSGSFS, (r->cs & 0xffff) | (r->ss & 0xffff) << 48},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        context->uc_mcontext.gregs[values[i].name] = (greg_t)values[i].value;
}

/* The frame keeps only the vector registers that fxsave knows, and the modes of arithmetic: the
 * thread waits in a function of libc's, and no caller relies on the rest over a call. */
static bool frame_write(const struct borrowed *borrowed)
{
    struct signal_frame frame = {.return_address = borrowed->signal_return,
                                 .context.uc_flags = SIGNAL_CONTEXT_STACK_SEGMENT};
    struct user_regs_struct registers = registers_waiting(borrowed, true);
    context_fill(&frame.context, &registers);
    frame.context.uc_stack.ss_flags = SIGNAL_STACK_INVALID;
    memcpy(&frame.context.uc_sigmask, &borrowed->signals, sizeof borrowed->signals);
    memcpy(frame.vectors, borrowed->state, FXSAVE_BYTES);
    memset(frame.vectors + FXSAVE_FOR_SOFTWARE, 0, FXSAVE_BYTES - FXSAVE_FOR_SOFTWARE);
    uint64_t vectors = borrowed->frame + offsetof(struct signal_frame, vectors);
    memcpy(&frame.context.uc_mcontext.fpregs, &vectors, sizeof vectors);
    return memory_write(borrowed->memory, borrowed->frame, &frame, sizeof frame);
}

static bool call_prepare(struct borrowed *borrowed, uint64_t function, const uint64_t arguments[6])
{
    struct user_regs_struct registers = borrowed->registers;
    borrowed->frame = (registers.rsp - RED_ZONE_BYTES - sizeof(struct signal_frame)) &
                      ~(uint64_t)(_Alignof(struct signal_frame) - 1);
    registers.rsp = borrowed->frame + offsetof(struct signal_frame, return_address);
    registers.rip = function;
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.rcx = arguments[3];
    registers.r8 = arguments[4];
    registers.r9 = arguments[5];
    registers.rax = 0;
    registers.orig_rax = UINT64_MAX;      /* no system call is to be done again now */
    registers.eflags &= ~UINT64_C(0x500); /* direction and trap flag */
    if (!frame_write(borrowed) || ptrace(PTRACE_SETREGS, borrowed->tid, NULL, &registers) != 0)
        return false;
    borrowed->place = BORROWED_CALLS;
    return signals_block(borrowed);
}

/* The thread runs to the next entry or exit of a system call. */
static rocattach_status_t call_step(struct borrowed *borrowed, struct user_regs_struct *registers)
{
    int status;
    do {
        if (ptrace(PTRACE_SYSCALL, borrowed->tid, NULL, NULL) != 0)
            return status_of(errno);
        int stopped = stop_wait(borrowed->tid, &status, CALL_SECONDS);
        if (stopped < 0)
            return ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND;
        if (stopped == 0) {
            log_error("rocattach", "thread %d does not come back from a call", (int)borrowed->tid);
            thread_stop(borrowed->tid);
            return ROCATTACH_STATUS_ERROR;
        }
    } while (status >> 16 == PTRACE_EVENT_STOP);
    if (WSTOPSIG(status) != SYSTEM_CALL_STOP) {
        log_error("rocattach", "signal %d in a call on thread %d", WSTOPSIG(status),
                  (int)borrowed->tid);
        return ROCATTACH_STATUS_ERROR;
    }
    borrowed->in_system_call = !borrowed->in_system_call;
    return ptrace(PTRACE_GETREGS, borrowed->tid, NULL, registers) == 0 ? ROCATTACH_STATUS_SUCCESS
                                                                       : status_of(errno);
}

/* The thread runs until the call has returned and stops where it would put everything back. */
static rocattach_status_t call_wait(struct borrowed *borrowed, const long results[2],
                                    uint64_t *result)
{
    struct user_regs_struct registers;
    *result = (uint64_t)-EAGAIN;
    for (;;) {
        rocattach_status_t status = call_step(borrowed, &registers);
        if (status != ROCATTACH_STATUS_SUCCESS)
            return status;
        long number = (long)registers.orig_rax;
        if (!borrowed->in_system_call && (number == results[0] || number == results[1]))
            *result = registers.rax;
        if (borrowed->in_system_call && number == SYS_rt_sigreturn &&
            registers.rip == borrowed->signal_return + SIGNAL_RETURN_BYTES) {
            borrowed->place = BORROWED_RETURNS;
            return ROCATTACH_STATUS_SUCCESS;
        }
    }
}

rocattach_status_t borrow_call(struct borrowed *borrowed, uint64_t function,
                               const uint64_t arguments[6], const long results[2], uint64_t *result)
{
    if (!call_prepare(borrowed, function, arguments))
        return ROCATTACH_STATUS_ERROR_PTRACE_ERROR;
    return call_wait(borrowed, results, result);
}

/* We may be killed at any step of this: the frame then does all of it again. The last step sets all
 * registers at once, and with them takes back the return from the frame. */
static void thread_restore(struct borrowed *borrowed)
{
    struct iovec state = {borrowed->state, borrowed->state_size};
    struct user_regs_struct registers = registers_waiting(borrowed, false);
    ptrace(PTRACE_SETREGSET, borrowed->tid, (void *)NT_X86_XSTATE, &state);
    ptrace(PTRACE_SETSIGMASK, borrowed->tid, (void *)sizeof borrowed->signals, &borrowed->signals);
    ptrace(PTRACE_SETREGS, borrowed->tid, NULL, &registers);
}

void borrow_end(struct borrowed *borrowed)
{
    if (borrowed->place == BORROWED_RETURNS)
        thread_restore(borrowed);
    thread_release(borrowed->tid);
}
