// The end of a program of csmith.py: one of it in every lane.
typedef uint32_t u32;
typedef uint64_t u64;
enum { WORDS = 2 };

static struct globals in_global_memory[THREADS * GROUPS];

static NOINLINE void lane_run(struct globals *globals, uint64_t lane, u64 *out)
{
    globals_begin(globals, lane);
    csmith_main(globals);
    out[0] = globals->checksum;
    out[1] = globals->count;
}

static void lane_run_somewhere(uint32_t lane, u64 *out)
{
    if (IN_PRIVATE_MEMORY) {
        struct globals globals;
        lane_run(&globals, lane, out + (u64)lane * WORDS);
    } else {
        lane_run(&in_global_memory[lane], lane, out + (u64)lane * WORDS);
    }
}

#if ON_GPU
__attribute__((amdgpu_kernel, visibility("protected"))) void
program(__attribute__((address_space(1))) const u32 *in,
        __attribute__((address_space(1))) const u32 *uniform,
        __attribute__((address_space(1))) u64 *out, __attribute__((address_space(1))) u64 *atoms,
        __attribute__((address_space(1))) uint8_t *scratch)
{
    lane_run_somewhere(
        __builtin_amdgcn_workgroup_id_x() * THREADS + __builtin_amdgcn_workitem_id_x(), (u64 *)out);
}
#else
const u32 program_threads = THREADS, program_groups = GROUPS, program_words = WORDS;
const char *const program_names[] = {"the checksum", "the number of values"};
void program(const u32 *in, const u32 *uniform, u64 *out, u64 *atoms, uint8_t *scratch)
{
    for (u32 lane = 0; lane < THREADS * GROUPS; lane++)
        lane_run_somewhere(lane, out);
}
#endif
