/*
 * What tools see of runtimes that hand over their tables. One mode a process:
 *   runtimes_test hip | libraries | communication | ranges | intercept | intercept_only
 */
#include "recorder.h"

static void hip_mode(void **state)
{
    (void)state;
    recorder_start();
    struct hip first = hip_load(0), second = hip_load(1);
    REGISTERS(SUCCESS, first.start());
    REGISTERS(SUCCESS, second.start());
    for (unsigned copy = 0; copy < 2; copy++) {
        const struct call *started = call_find(ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION,
                                               ROCPROFILER_RUNTIME_INITIALIZATION_HIP,
                                               ROCPROFILER_CALLBACK_PHASE_NONE, copy);
        assert_int_equal(started->data.initialization.version, DOUBLE_HIP_VERSION);
        assert_int_equal(started->data.initialization.instance, copy);
    }
    /* what is behind the functions that we know stays as it is */
    assert_int_equal(first.untouched(), HIP_UNKNOWN_SLOTS);
    for (int i = 0; i < HIP_UNKNOWN_SLOTS; i++)
        assert_ptr_equal(first.function(HIP_SLOTS + i), first.function(HIP_SLOTS));
    hip_is_traced(&first, 0);
    hip_is_traced(&second, 1);

    call_count = 0;
    assert_int_equal(((free_fn)HIP(first, hipFree))(NULL), hipErrorInvalidValue);
    const struct call *outer = ENTER(HIP_RUNTIME_API, hipFree, 0);
    const struct call *inner = EXIT(HIP_RUNTIME_API, hipMalloc, 0);
    assert_int_equal(inner->record.correlation_id.ancestor, outer->record.correlation_id.internal);
    assert_int_equal(inner->data.hip.retval.hipError_t_retval, hipErrorInvalidValue);

    hipChannelFormatDesc (*channel)(int, int, int, int, hipChannelFormatKind) =
        (hipChannelFormatDesc(*)(int, int, int, int, hipChannelFormatKind))HIP(
            first, hipCreateChannelDesc);
    assert_int_equal(channel(8, 9, 10, 11, hipChannelFormatKindUnsigned).w, 11);
    assert_int_equal(EXIT(HIP_RUNTIME_API, hipCreateChannelDesc, 0)
                         ->data.hip.retval.hipChannelFormatDesc_retval.z,
                     10);
    const char *(*name)(hipError_t) = (const char *(*)(hipError_t))HIP(first, hipGetErrorName);
    assert_string_equal(name(hipSuccess), "success");
    assert_string_equal(
        EXIT(HIP_RUNTIME_API, hipGetErrorName, 0)->data.hip.retval.const_charp_retval, "success");

    hipError_t (*push)(dim3, dim3, size_t, hipStream_t) =
        (hipError_t(*)(dim3, dim3, size_t, hipStream_t))first.compiler_function(
            ROCPROFILER_HIP_COMPILER_API_ID___hipPushCallConfiguration);
    dim3 grid = {6, 1, 2}, block = {3, 4, 7};
    assert_int_equal(push(grid, block, 42, NULL), hipSuccess);
    const struct call *pushed = ENTER(HIP_COMPILER_API, __hipPushCallConfiguration, 0);
    assert_int_equal(pushed->data.hip.args.__hipPushCallConfiguration.gridDim.z, 2);
    assert_non_null(strstr(pushed->text, "blockDim={x=3, y=4, z=7} "));

    OK(rocprofiler_stop_context(recorder_context));
    void *pointer;
    ((malloc_fn)HIP(first, hipMalloc))(&pointer, 1);
    OK(rocprofiler_flush_buffer(recorder_buffer));
    enum { MALLOC = ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc };
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, MALLOC), 3);
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT, MALLOC), 3);
    for (unsigned i = 0; i < record_count; i++) {
        assert_true(records[i].hip.end_timestamp >= records[i].hip.start_timestamp);
        if (records[i].kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT &&
            records[i].hip.operation == MALLOC)
            assert_int_equal(records[i].hip.args.hipMalloc.size == 0,
                             records[i].hip.retval.hipError_t_retval == hipErrorInvalidValue);
    }
    /* a reset table comes again: wrapped again, counted once */
    call_count = 0;
    OK(rocprofiler_start_context(recorder_context));
    REGISTERS(SUCCESS, first.start());
    assert_int_equal(call_count, 0);
    hip_is_traced(&first, 0);
}

/* ---- libraries whose tables the test makes itself */

static ncclResult_t all_reduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, struct ncclComm *communicator,
                               hipStream_t stream)
{
    (void)send, (void)receive, (void)communicator, (void)stream;
    return count == 12 && type == ncclFloat16 && operation == ncclMax ? ncclSuccess
                                                                      : ncclInvalidArgument;
}

static ncclUniqueId seen_id;
static ncclResult_t init_rank(ncclComm_t *communicator, int ranks, ncclUniqueId id, int rank)
{
    seen_id = id;
    *communicator = NULL;
    return ranks > rank ? ncclInProgress : ncclInvalidArgument;
}

static rocDecStatus get_frame(rocDecDecoderHandle handle, int picture, void **memory,
                              uint32_t *pitch, RocdecProcParams *parameters)
{
    (void)handle, (void)memory, (void)parameters;
    *pitch = 256;
    return picture < 0 ? ROCDEC_INVALID_PARAMETER : ROCDEC_SUCCESS;
}

static RocJpegStatus jpeg_create(RocJpegBackend backend, int device, RocJpegHandle *handle)
{
    *handle = NULL;
    return backend == ROCJPEG_BACKEND_HYBRID && device == 3 ? ROCJPEG_STATUS_SUCCESS
                                                            : ROCJPEG_STATUS_NOT_INITIALIZED;
}

static void libraries_mode(void **state)
{
    (void)state;
    enum {
        ALL_REDUCE = ROCPROFILER_RCCL_API_ID_ncclAllReduce,
        INIT_RANK = ROCPROFILER_RCCL_API_ID_ncclCommInitRank,
        FRAME = ROCPROFILER_ROCDECODE_API_ID_rocDecGetVideoFrame,
        CREATE = ROCPROFILER_ROCJPEG_API_ID_rocJpegCreate,
    };
    static uint64_t rccl[100] = {sizeof rccl}, decode[12], jpeg[10] = {sizeof jpeg};
    decode[0] = sizeof decode; /* the older one, without the bitstream reader */
    recorder_start();
    rccl[1 + ALL_REDUCE] = (uintptr_t)all_reduce;
    rccl[1 + INIT_RANK] = (uintptr_t)init_rank;
    decode[1 + FRAME] = (uintptr_t)get_frame;
    jpeg[1 + CREATE] = (uintptr_t)jpeg_create;
    REGISTERS(SUCCESS, offer("rccl", rccl));
    REGISTERS(SUCCESS, offer("rocdecode", decode));
    REGISTERS(SUCCESS, offer("rocjpeg", jpeg));

    __typeof__(&all_reduce) reduce = (__typeof__(&all_reduce))(uintptr_t)rccl[1 + ALL_REDUCE];
    assert_int_equal(reduce(NULL, NULL, 12, ncclFloat16, ncclMax, NULL, NULL), ncclSuccess);
    assert_int_equal(ENTER(RCCL_API, ncclAllReduce, 0)->data.rccl.args.ncclAllReduce.count, 12);
    assert_non_null(strstr(ENTER(RCCL_API, ncclAllReduce, 0)->text, "datatype=6 op=2 "));

    __typeof__(&init_rank) rank = (__typeof__(&init_rank))(uintptr_t)rccl[1 + INIT_RANK];
    ncclUniqueId id = {.internal = "an id of 128 bytes goes over the stack"};
    ncclComm_t communicator;
    assert_int_equal(rank(&communicator, 2, id, 1), ncclInProgress);
    assert_memory_equal(&seen_id, &id, sizeof id);
    assert_memory_equal(
        &EXIT(RCCL_API, ncclCommInitRank, 0)->data.rccl.args.ncclCommInitRank.commId, &id,
        sizeof id);
    assert_int_equal(EXIT(RCCL_API, ncclCommInitRank, 0)->data.rccl.retval.ncclResult_t_retval,
                     ncclInProgress);

    uint32_t pitch = 0;
    __typeof__(&get_frame) frame = (__typeof__(&get_frame))(uintptr_t)decode[1 + FRAME];
    assert_int_equal(frame(NULL, -1, NULL, &pitch, NULL), ROCDEC_INVALID_PARAMETER);
    assert_int_equal(
        EXIT(ROCDECODE_API, rocDecGetVideoFrame, 0)->data.rocdecode.retval.rocDecStatus_retval,
        ROCDEC_INVALID_PARAMETER);

    RocJpegHandle handle;
    __typeof__(&jpeg_create) create = (__typeof__(&jpeg_create))(uintptr_t)jpeg[1 + CREATE];
    assert_int_equal(create(ROCJPEG_BACKEND_HYBRID, 3, &handle), ROCJPEG_STATUS_SUCCESS);
    assert_int_equal(
        ENTER(ROCJPEG_API, rocJpegCreate, 0)->data.rocjpeg.args.rocJpegCreate.device_id, 3);

    OK(rocprofiler_flush_buffer(recorder_buffer));
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_RCCL_API, ALL_REDUCE), 1);
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_ROCDECODE_API, FRAME), 1);
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT, FRAME), 1);
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_ROCJPEG_API, CREATE), 1);
    for (unsigned i = 0; i < record_count; i++)
        if (records[i].kind == ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT) {
            assert_int_equal(records[i].rocdecode.args.rocDecGetVideoFrame.pic_idx, -1);
            assert_int_equal(records[i].rocdecode.retval.rocDecStatus_retval,
                             ROCDEC_INVALID_PARAMETER);
        }
}

/* ---- rocSHMEM and hipFile */

static uint64_t signalled;
static int signal_pe;
static void put_signal(void *dest, const void *source, size_t bytes, uint64_t *at, uint64_t value,
                       int operation, int pe, hipStream_t stream)
{
    (void)dest, (void)source, (void)stream;
    *at = value + bytes + (uint64_t)operation; /* the seventh and eighth lie on the stack */
    signal_pe = pe;
}

static hipFileError_t buffer_register(const void *buffer, size_t bytes, int flags)
{
    (void)buffer;
    return flags == 3 ? (hipFileError_t){hipFileInvalidValue, hipErrorOutOfMemory}
                      : (hipFileError_t){hipFileSuccess, (hipError_t)bytes};
}

static ssize_t file_read(hipFileHandle_t file, void *buffer, size_t bytes, hoff_t file_offset,
                         hoff_t buffer_offset)
{
    (void)file, (void)buffer;
    return file_offset == -5 ? -7 : (ssize_t)bytes + buffer_offset;
}

static int64_t use_count(void)
{
    return 4;
}

static void statistics_of_later_releases(void) {}

enum {
    PUT_SIGNAL = ROCPROFILER_ROCSHMEM_API_ID_putmem_signal_on_stream,
    BUFFER = ROCPROFILER_HIPFILE_API_ID_hipFileBufRegister,
    READ = ROCPROFILER_HIPFILE_API_ID_hipFileRead,
    USES = ROCPROFILER_HIPFILE_API_ID_hipFileUseCount,
    STATISTICS = ROCPROFILER_HIPFILE_API_ID_LAST,
};

static void communication_records(void)
{
    OK(rocprofiler_flush_buffer(recorder_buffer));
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API, PUT_SIGNAL), 1);
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API_EXT, PUT_SIGNAL), 1);
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_HIPFILE_API, READ), 1);
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT, READ), 1);
    assert_int_equal(records_of(ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT, USES), 1);
    for (unsigned i = 0; i < record_count; i++) {
        if (records[i].kind == ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API_EXT)
            assert_int_equal(records[i].rocshmem.args.putmem_signal_on_stream.signal, 30);
        if (records[i].kind != ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT)
            continue;
        if ((int)records[i].hipfile.operation == READ)
            assert_int_equal(records[i].hipfile.retval.ssize_t_retval, -7);
        if ((int)records[i].hipfile.operation == USES)
            assert_int_equal(records[i].hipfile.retval.int64_t_retval, 4);
    }
}

static void communication_mode(void **state)
{
    (void)state;
    static uint64_t shmem[10] = {sizeof shmem}, files[40] = {sizeof files};
    recorder_start();
    shmem[1 + PUT_SIGNAL] = (uintptr_t)put_signal;
    files[1 + BUFFER] = (uintptr_t)buffer_register;
    files[1 + READ] = (uintptr_t)file_read;
    files[1 + USES] = (uintptr_t)use_count;
    files[1 + STATISTICS] = (uintptr_t)statistics_of_later_releases;
    REGISTERS(UNSUPPORTED_API, offer("hipfile", files)); /* the name has a capital */
    REGISTERS(SUCCESS, offer("rocshmem", shmem));
    REGISTERS(SUCCESS, offer("hipFile", files));
    assert_ptr_equal((void *)(uintptr_t)files[1 + STATISTICS],
                     (void *)statistics_of_later_releases);
    for (int which = ROCPROFILER_RUNTIME_INITIALIZATION_ROCSHMEM;
         which <= ROCPROFILER_RUNTIME_INITIALIZATION_HIPFILE; which++)
        call_find(ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, which,
                  ROCPROFILER_CALLBACK_PHASE_NONE, 0);

    __typeof__(&put_signal) put = (__typeof__(&put_signal))(uintptr_t)shmem[1 + PUT_SIGNAL];
    put(NULL, &state, 12, &signalled, 30, 8, 5, NULL);
    assert_int_equal(signalled, 50);
    assert_int_equal(signal_pe, 5);
    const struct call *entered = ENTER(ROCSHMEM_API, putmem_signal_on_stream, 0);
    assert_int_equal(entered->data.rocshmem.args.putmem_signal_on_stream.pe, 5);
    assert_non_null(strstr(entered->text, "nelems=12 "));
    EXIT(ROCSHMEM_API, putmem_signal_on_stream, 0);

    __typeof__(&buffer_register) take = (__typeof__(&buffer_register))(uintptr_t)files[1 + BUFFER];
    assert_int_equal(take(NULL, 1, 3).hip_drv_err, hipErrorOutOfMemory);
    assert_int_equal(
        EXIT(HIPFILE_API, hipFileBufRegister, 0)->data.hipfile.retval.hipFileError_t_retval.err,
        hipFileInvalidValue);
    __typeof__(&file_read) from = (__typeof__(&file_read))(uintptr_t)files[1 + READ];
    assert_int_equal(from(NULL, NULL, 100, -5, 0), -7);
    assert_non_null(strstr(ENTER(HIPFILE_API, hipFileRead, 0)->text, "file_offset=-5 "));
    __typeof__(&use_count) uses = (__typeof__(&use_count))(uintptr_t)files[1 + USES];
    assert_int_equal(uses(), 4);
    communication_records();
}

/* The numbers of AMD's headers from 1.3.0 on, as public copies of them have these; docs/status.md
 * says of which there is one copy only. */
_Static_assert(ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH == 22 &&
                   ROCPROFILER_CALLBACK_TRACING_ROCSHMEM_API == 23 &&
                   ROCPROFILER_CALLBACK_TRACING_HIPFILE_API == 24 &&
                   ROCPROFILER_BUFFER_TRACING_HIP_GRAPH == 33 &&
                   ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API == 34 &&
                   ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API_EXT == 35 &&
                   ROCPROFILER_BUFFER_TRACING_HIPFILE_API == 36 &&
                   ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT == 37 &&
                   ROCPROFILER_RUNTIME_INITIALIZATION_ROCSHMEM == 8 &&
                   ROCPROFILER_RUNTIME_INITIALIZATION_HIPFILE == 9 &&
                   ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_ROCSHMEM_API == 19 &&
                   ROCPROFILER_ROCSHMEM_API_ID_LAST == 9 && ROCPROFILER_HIPFILE_API_ID_LAST == 31 &&
                   sizeof(rocprofiler_buffer_tracing_rocshmem_api_record_t) == 64 &&
                   sizeof(rocprofiler_buffer_tracing_hipfile_api_record_t) == 64,
               "binary interface");
#define GRAPH_DATA(member)   offsetof(rocprofiler_callback_tracing_hip_graph_data_t, member)
#define GRAPH_RECORD(member) offsetof(rocprofiler_buffer_tracing_hip_graph_record_t, member)
_Static_assert(sizeof(rocprofiler_callback_tracing_hip_graph_data_t) == 24 &&
                   GRAPH_DATA(graph_exec_id) == 8 && GRAPH_DATA(graph_exec_value) == 16 &&
                   sizeof(rocprofiler_buffer_tracing_hip_graph_record_t) == 96 &&
                   GRAPH_RECORD(correlation_id) == 16 && GRAPH_RECORD(thread_id) == 40 &&
                   GRAPH_RECORD(start_timestamp) == 48 && GRAPH_RECORD(end_timestamp) == 56 &&
                   GRAPH_RECORD(agent_id) == 64 && GRAPH_RECORD(queue_id) == 72 &&
                   GRAPH_RECORD(graph_exec_id) == 80 && GRAPH_RECORD(kernel_dispatch_count) == 88 &&
                   ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_LAUNCH == 3 &&
                   ROCPROFILER_HIP_GRAPH_OPERATION_LAST == 4,
               "binary interface");

/* The same, of 1.4.1. */
#define EVENT_DATA(member)   offsetof(rocprofiler_callback_tracing_hip_event_data_t, member)
#define EVENT_RECORD(member) offsetof(rocprofiler_buffer_tracing_hip_event_record_t, member)
_Static_assert(ROCPROFILER_CALLBACK_TRACING_HIP_EVENT == 26 &&
                   ROCPROFILER_BUFFER_TRACING_HIP_EVENT == 38 &&
                   ROCPROFILER_HIP_EVENT_RECORD == 1 && ROCPROFILER_HIP_EVENT_WAIT == 2 &&
                   sizeof(rocprofiler_callback_tracing_hip_event_data_t) == 56 &&
                   EVENT_DATA(start_timestamp) == 8 && EVENT_DATA(end_timestamp) == 16 &&
                   EVENT_DATA(agent_id) == 24 && EVENT_DATA(queue_id) == 32 &&
                   EVENT_DATA(hip_event_handle) == 40 && EVENT_DATA(source_queue_id) == 48 &&
                   sizeof(rocprofiler_buffer_tracing_hip_event_record_t) == 88 &&
                   EVENT_RECORD(correlation_id) == 16 && EVENT_RECORD(thread_id) == 32 &&
                   EVENT_RECORD(start_timestamp) == 40 && EVENT_RECORD(end_timestamp) == 48 &&
                   EVENT_RECORD(agent_id) == 56 && EVENT_RECORD(queue_id) == 64 &&
                   EVENT_RECORD(hip_event_handle) == 72 && EVENT_RECORD(source_queue_id) == 80,
               "binary interface");

/* The same, of 1.4.1, a beta. */
typedef rocprofiler_callback_tracing_kernel_replay_data_t replay_data_t;
_Static_assert(ROCPROFILER_CALLBACK_TRACING_KERNEL_REPLAY == 25 &&
                   ROCPROFILER_KERNEL_REPLAY_CONFIG == 1 && ROCPROFILER_KERNEL_REPLAY_PASS == 2 &&
                   sizeof(replay_data_t) == 184 && offsetof(replay_data_t, current_pass) == 136 &&
                   offsetof(replay_data_t, total_passes) == 144 &&
                   offsetof(replay_data_t, replay_pass_count) == 152 &&
                   offsetof(replay_data_t, replay_continue) == 160 &&
                   offsetof(replay_data_t, replay_start_context) == 168 &&
                   offsetof(replay_data_t, replay_stop_context) == 176,
               "binary interface");

/* ---- tools that put functions of their own into tables */

static struct {
    rocprofiler_intercept_table_t type;
    uint64_t version, instance;
} watched[16];
static unsigned watched_count;
static malloc_fn below_tool;
static unsigned tool_calls, order_errors;

static hipError_t tool_malloc(void **pointer, size_t size)
{
    tool_calls++;
    order_errors += call_count != 0; /* the library's wrapper comes after the tool's */
    return below_tool(pointer, size + 1);
}

static void on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
                     void **tables, uint64_t count, void *data)
{
    assert_ptr_equal(data, &watched);
    assert_int_equal(count, 1);
    assert_true(watched_count < COUNT(watched));
    watched[watched_count].type = type;
    watched[watched_count].version = version;
    watched[watched_count++].instance = instance;
    if (type != ROCPROFILER_HIP_RUNTIME_TABLE)
        return;
    void **slot = (void **)tables[0] + 1 + ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc;
    below_tool = (malloc_fn)*slot;
    *slot = (void *)tool_malloc;
    call_count = 0;
}

static rocprofiler_tool_configure_result_t *configure_watching(uint32_t version, const char *name,
                                                               uint32_t priority,
                                                               rocprofiler_client_id_t *id)
{
    FAILS(INVALID_ARGUMENT, rocprofiler_at_intercept_table_registration(NULL, 0, NULL));
    OK(rocprofiler_at_intercept_table_registration(on_table,
                                                   ROCPROFILER_HIP_RUNTIME_TABLE |
                                                       ROCPROFILER_MARKER_CONTROL_TABLE |
                                                       ROCPROFILER_ROCJPEG_TABLE,
                                                   &watched));
    return recorder_configure(version, name, priority, id);
}

static void intercept_mode(void **state)
{
    (void)state;
    static uint64_t jpeg[10] = {sizeof jpeg}, rccl[38] = {sizeof rccl};
    OK(rocprofiler_force_configure(configure_watching));
    FAILS(CONFIGURATION_LOCKED, rocprofiler_at_intercept_table_registration(on_table, 0, NULL));
    struct hip first = hip_load(0);
    REGISTERS(SUCCESS, first.start());
    REGISTERS(SUCCESS, offer("rccl", rccl)); /* not asked for */
    REGISTERS(SUCCESS, offer("rocjpeg", jpeg));
    roctxMark("offers the three tables of roctx");
    assert_int_equal(watched_count, 3);
    assert_int_equal(watched[0].type, ROCPROFILER_HIP_RUNTIME_TABLE);
    assert_int_equal(watched[0].version, DOUBLE_HIP_VERSION);
    assert_int_equal(watched[0].instance, 0);
    assert_int_equal(watched[1].type, ROCPROFILER_ROCJPEG_TABLE);
    assert_int_equal(watched[2].type, ROCPROFILER_MARKER_CONTROL_TABLE);

    void *pointer;
    call_count = 0;
    assert_int_equal(((malloc_fn)HIP(first, hipMalloc))(&pointer, 64), hipSuccess);
    assert_int_equal(tool_calls, 1);
    assert_int_equal(order_errors, 0);
    assert_int_equal(ENTER(HIP_RUNTIME_API, hipMalloc, 0)->data.hip.args.hipMalloc.size, 65);
    assert_int_equal(call_count, 2);

    const char *name = NULL;
    uint64_t length = 0;
    OK(rocprofiler_query_intercept_table_name(ROCPROFILER_HIP_RUNTIME_TABLE, &name, &length));
    assert_string_equal(name, "HIP (runtime)");
    assert_int_equal(length, strlen(name));
    OK(rocprofiler_query_intercept_table_name(ROCPROFILER_ROCJPEG_TABLE, NULL, NULL));
    FAILS(KIND_NOT_FOUND,
          rocprofiler_query_intercept_table_name((rocprofiler_intercept_table_t)3, &name, &length));
    assert_null(name);
}

static rocprofiler_tool_configure_result_t *configure_only_watching(uint32_t version,
                                                                    const char *name,
                                                                    uint32_t priority,
                                                                    rocprofiler_client_id_t *id)
{
    configure_watching(version, name, priority, id);
    return NULL;
}

/* A tool that wants nothing but the tables. */
static void intercept_only_mode(void **state)
{
    (void)state;
    void *pointer;
    OK(rocprofiler_force_configure(configure_only_watching));
    struct hip hip = hip_load(0);
    REGISTERS(SUCCESS, hip.start());
    assert_int_equal(watched_count, 1);
    assert_int_equal(((malloc_fn)HIP(hip, hipMalloc))(&pointer, 64), hipSuccess);
    assert_int_equal(tool_calls, 1);
    assert_int_equal(call_count, 0);
    assert_int_equal(hip.untouched(), HIP_SLOTS + HIP_UNKNOWN_SLOTS - 1);
}

/* ---- marker ranges of our own library */

static void ranges_mode(void **state)
{
    (void)state;
    recorder_start();
    rocprofiler_timestamp_t before, after;
    OK(rocprofiler_get_timestamp(&before));
    roctxRangePush("outer");
    roctx_range_id_t process = roctxRangeStart("process");
    roctxRangePush("inner");
    roctxRangePop();
    roctxRangePop();
    roctxRangeStop(process);
    OK(rocprofiler_get_timestamp(&after));
    OK(rocprofiler_flush_buffer(recorder_buffer));
    enum {
        KIND = ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API,
        THREAD_RANGE = ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA,
        PROCESS_RANGE = ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxProcessRangeA,
    };
    assert_int_equal(records_of(KIND, THREAD_RANGE), 2);
    assert_int_equal(records_of(KIND, PROCESS_RANGE), 1);
    const rocprofiler_buffer_tracing_hip_api_ext_record_t *range[3];
    unsigned found = 0;
    for (unsigned i = 0; i < record_count; i++)
        if (records[i].kind == KIND)
            range[found++] = &records[i].hip;
    assert_int_equal(found, 3); /* inner, outer, process: in the order of their ends */
    assert_true(before <= range[1]->start_timestamp && range[2]->end_timestamp <= after);
    assert_true(range[1]->start_timestamp <= range[2]->start_timestamp);
    assert_true(range[2]->start_timestamp <= range[0]->start_timestamp);
    assert_true(range[0]->end_timestamp <= range[1]->end_timestamp);
    assert_true(range[1]->end_timestamp <= range[2]->end_timestamp);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(range[i]->size, RECORD_BYTES);
        assert_int_equal(range[i]->thread_id, syscall(SYS_gettid));
        assert_int_not_equal(range[i]->correlation_id.internal,
                             range[(i + 1) % 3]->correlation_id.internal);
    }
    const struct call *ended = EXIT(MARKER_CORE_RANGE_API, roctxThreadRangeA, 0);
    assert_int_equal(ended->record.correlation_id.internal, range[0]->correlation_id.internal);
    assert_string_equal(ended->text, "message=inner ");
}

static uint64_t ancestor_of_hip_call(const struct hip *hip, unsigned n)
{
    void *pointer;
    ((malloc_fn)HIP(*hip, hipMalloc))(&pointer, 64);
    return ENTER(HIP_RUNTIME_API, hipMalloc, n)->record.correlation_id.ancestor;
}

static uint64_t range_id(unsigned n)
{
    return ENTER(MARKER_CORE_RANGE_API, roctxThreadRangeA, n)->record.correlation_id.internal;
}

/* Calls inside of a range have it as their ancestor, and so have their records. */
static void ancestors_mode(void **state)
{
    (void)state;
    recorder_start();
    struct hip hip = hip_load(0);
    REGISTERS(SUCCESS, hip.start());
    assert_int_equal(ancestor_of_hip_call(&hip, 0), 0);
    roctxRangePush("outer");
    assert_int_equal(ancestor_of_hip_call(&hip, 1), range_id(0));
    roctx_range_id_t process = roctxRangeStart("of no thread");
    roctxRangePush("inner");
    assert_int_equal(ancestor_of_hip_call(&hip, 2), range_id(1));
    roctxRangePop();
    assert_int_equal(ancestor_of_hip_call(&hip, 3), range_id(0));
    roctxRangePop();
    assert_int_equal(ancestor_of_hip_call(&hip, 4), 0);
    roctxRangeStop(process);
    assert_int_equal(
        ENTER(MARKER_CORE_RANGE_API, roctxThreadRangeA, 0)->record.correlation_id.ancestor, 0);
    assert_int_equal(
        ENTER(MARKER_CORE_RANGE_API, roctxThreadRangeA, 1)->record.correlation_id.ancestor,
        range_id(0));
    OK(rocprofiler_flush_buffer(recorder_buffer));
    unsigned inside[3] = {0};
    for (unsigned i = 0; i < record_count; i++)
        if (records[i].kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API) {
            uint64_t ancestor = records[i].hip.correlation_id.ancestor;
            inside[ancestor == range_id(0) ? 1 : ancestor == range_id(1) ? 2 : 0]++;
        }
    assert_int_equal(inside[0], 2);
    assert_int_equal(inside[1], 2);
    assert_int_equal(inside[2], 1);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest modes[] = {MODE(hip),      MODE(libraries), MODE(communication),
                                              MODE(ranges),   MODE(intercept), MODE(intercept_only),
                                              MODE(ancestors)};
    return modes_run(argc, argv, modes, COUNT(modes));
}
