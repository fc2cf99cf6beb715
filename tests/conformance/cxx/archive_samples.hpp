/* One object of each structure that archives hold, with a value of its own in every member and with
 * something behind every pointer. */
#ifndef CONFORMANCE_CXX_ARCHIVE_SAMPLES_HPP
#define CONFORMANCE_CXX_ARCHIVE_SAMPLES_HPP

#include <rocprofiler-sdk/rocprofiler.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace samples
{
/** The words 1, 2, 3 ... */
template <typename Type> void count_words(Type &sample)
{
    static_assert(std::is_trivially_copyable_v<Type>);
    unsigned char bytes[sizeof(Type)] = {};
    for (std::uint32_t i = 0; i < sizeof(Type) / 4; i++) {
        const std::uint32_t word = i + 1;
        std::memcpy(bytes + 4 * i, &word, sizeof word);
    }
    std::memcpy(&sample, bytes, sizeof bytes);
}

template <typename Type> void fill(Type &sample)
{
    count_words(sample);
}

/* Bit fields only: neighbours differ. */
template <typename Type> void scatter_bits(Type &sample)
{
    const unsigned char pattern[] = {0xa6, 0x59, 0x9a, 0x65, 0x96};
    unsigned char bytes[sizeof(Type)];
    for (std::size_t i = 0; i < sizeof(Type); i++)
        bytes[i] = pattern[i % sizeof pattern];
    std::memcpy(&sample, bytes, sizeof bytes);
}

#define SAMPLE_OF_BITS(type)                                                                       \
    inline void fill(type &sample)                                                                 \
    {                                                                                              \
        scatter_bits(sample);                                                                      \
    }
SAMPLE_OF_BITS(HsaCacheType)
SAMPLE_OF_BITS(HSA_LINKPROPERTY)
SAMPLE_OF_BITS(HSA_CAPABILITY)
SAMPLE_OF_BITS(HSA_MEMORYPROPERTY)
SAMPLE_OF_BITS(HSA_ENGINE_VERSION)
SAMPLE_OF_BITS(HSA_ENGINE_ID)
SAMPLE_OF_BITS(rocprofiler_agent_runtime_visiblity_t)
SAMPLE_OF_BITS(rocprofiler_pc_sampling_hw_id_v0_t)
SAMPLE_OF_BITS(rocprofiler_pc_sampling_memory_counters_t)
SAMPLE_OF_BITS(rocprofiler_pc_sampling_record_stochastic_header_t)
#undef SAMPLE_OF_BITS

inline void fill(rocprofiler_pc_sampling_snapshot_v0_t &sample)
{
    scatter_bits(sample);
    sample.reason_not_issued = ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_BARRIER_WAIT;
}

inline void fill(rocprofiler_pc_sampling_record_stochastic_v0_t &sample)
{
    count_words(sample);
    sample.inst_type = ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_LDS;
    sample.wave_issued = 1;
    fill(sample.flags);
    fill(sample.hw_id);
    fill(sample.snapshot);
}

inline void fill(rocprofiler_counter_record_t &sample)
{
    count_words(sample);
    sample.counter_value = 1234.5;
}

inline hsa_queue_t *queue()
{
    static hsa_queue_t only = {};
    only.id = 77;
    return &only;
}

#define SAMPLE_WITH_QUEUE(type)                                                                    \
    inline void fill(type &sample)                                                                 \
    {                                                                                              \
        count_words(sample);                                                                       \
        sample.queue = queue();                                                                    \
    }
SAMPLE_WITH_QUEUE(hsa_amd_event_scratch_alloc_start_t)
SAMPLE_WITH_QUEUE(hsa_amd_event_scratch_alloc_end_t)
SAMPLE_WITH_QUEUE(hsa_amd_event_scratch_free_start_t)
SAMPLE_WITH_QUEUE(hsa_amd_event_scratch_free_end_t)
SAMPLE_WITH_QUEUE(hsa_amd_event_scratch_async_reclaim_start_t)
SAMPLE_WITH_QUEUE(hsa_amd_event_scratch_async_reclaim_end_t)
#undef SAMPLE_WITH_QUEUE

inline void fill(rocprofiler_callback_tracing_code_object_load_data_t &sample)
{
    count_words(sample);
    sample.uri = "file:///a%20b#offset=1&size=2";
    sample.storage_type = ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
}

inline void fill(rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t &sample)
{
    count_words(sample);
    sample.kernel_name = "\"quoted\"<char const*>.kd";
}

inline void
fill(rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t &sample)
{
    count_words(sample);
    sample.device_function = "_Z5scalePf";
}

/* Arguments are written and not read: zeros, as a new object has. */
inline void fill(rocprofiler_buffer_tracing_hip_api_ext_record_t &sample)
{
    count_words(sample);
    sample.kind = ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT;
    sample.operation = ROCPROFILER_HIP_RUNTIME_API_ID_hipSetDevice;
    sample.args.hipSetDevice.deviceId = 0;
}

inline void fill(rocprofiler_buffer_tracing_rocdecode_api_ext_record_t &sample)
{
    std::memset(&sample, 0, sizeof sample);
    sample.size = sizeof sample;
    sample.kind = ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT;
    sample.operation = ROCPROFILER_ROCDECODE_API_ID_rocDecGetErrorName;
    sample.retval.uint64_t_retval = 3;
}

inline void fill(rocprofiler_counter_record_dimension_info_t &sample)
{
    count_words(sample);
    sample.name = "DIMENSION_XCC";
}

inline void fill(rocprofiler_counter_dimension_info_t &sample)
{
    count_words(sample);
    sample.dimension_name = "DIMENSION_INSTANCE";
}

inline void fill(rocprofiler_counter_record_dimension_instance_info_t &sample)
{
    static rocprofiler_counter_dimension_info_t one, other;
    static const rocprofiler_counter_dimension_info_t *both[2] = {&one, &other};
    fill(one);
    fill(other);
    other.index = 9;
    count_words(sample);
    sample.dimensions = both;
    sample.dimensions_count = 2;
}

template <typename Info> void name_counter(Info &sample)
{
    count_words(sample);
    sample.is_constant = 0;
    sample.is_derived = 1;
    sample.name = "TCC_HIT_sum";
    sample.description = "hits of all channels";
    sample.block = "";
    sample.expression = "reduce(TCC_HIT,sum)";
}

inline void fill(rocprofiler_counter_info_v0_t &sample)
{
    name_counter(sample);
}

inline void fill(rocprofiler_counter_info_v1_t &sample)
{
    static rocprofiler_counter_record_dimension_info_t dimension;
    static const rocprofiler_counter_record_dimension_info_t *dimensions[1] = {&dimension};
    static rocprofiler_counter_record_dimension_instance_info_t instance;
    static const rocprofiler_counter_record_dimension_instance_info_t *instances[1] = {&instance};
    fill(dimension);
    fill(instance);
    name_counter(sample);
    sample.dimensions = dimensions;
    sample.dimensions_count = 1;
    sample.dimensions_instances = instances;
    sample.dimensions_instances_count = 1;
}

inline void fill(rocprofiler_agent_v0_t &sample)
{
    static rocprofiler_agent_mem_bank_t bank;
    static rocprofiler_agent_cache_t caches[2];
    static rocprofiler_agent_io_link_t link;
    fill(bank);
    fill(caches[0]);
    fill(caches[1]);
    fill(link);
    count_words(sample);
    sample.mem_banks = &bank;
    sample.mem_banks_count = 1;
    sample.caches = caches;
    sample.caches_count = 2;
    sample.io_links = &link;
    sample.io_links_count = 1;
    sample.name = "gfx90a";
    sample.vendor_name = "AMD";
    sample.product_name = "";
    sample.model_name = "aldebaran";
}

/** Calls back with every form of a type's sample: those whose members depend on others have
 * several. */
template <typename Type, typename Visit> void each_form(Visit visit)
{
    Type sample;
    fill(sample);
    visit("", sample);
    if constexpr (std::is_same_v<Type, rocprofiler_callback_tracing_code_object_load_data_t>) {
        sample.storage_type = ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE;
        visit(" in a file", sample);
        sample.storage_type = ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_NONE;
        sample.uri = nullptr;
        visit(" nowhere", sample);
    }
    if constexpr (std::is_same_v<Type, rocprofiler_buffer_tracing_ompt_record_t>) {
        sample.operation = ROCPROFILER_OMPT_ID_target_emi;
        visit(" of a target", sample);
        sample.operation = ROCPROFILER_OMPT_ID_target_data_op_emi;
        visit(" of a transfer", sample);
        sample.operation = ROCPROFILER_OMPT_ID_target_submit_emi;
        visit(" of a kernel", sample);
    }
}
} // namespace samples

#endif
