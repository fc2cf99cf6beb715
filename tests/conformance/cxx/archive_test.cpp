/* Structures in archives. Every one comes back from JSON and from both binary archives as it went
 * in; a tool's own functions go first; what archives of other libraries lack or get wrong is seen.
 *
 *     conformance_cxx_archive            tests
 *     conformance_cxx_archive --samples  prints one JSON object a structure, for
 * archive_keys_test.py
 */
#include "archive_samples.hpp"
#include "check.hpp"

#include <rocprofiler-sdk/cxx/serialization.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

/* A tool's own functions, for a type that only we archive otherwise. */
static int own_calls;

namespace cereal
{
template <typename Archive, typename Data> void all_three(Archive &archive, Data &data)
{
    own_calls++;
    archive(make_nvp("major", data.major), make_nvp("minor", data.minor),
            make_nvp("patch", data.patch));
}
template <typename Archive> void save(Archive &archive, rocprofiler_version_triplet_t data)
{
    all_three(archive, data);
}
template <typename Archive> void load(Archive &archive, rocprofiler_version_triplet_t &data)
{
    all_three(archive, data);
}
} // namespace cereal

namespace
{
template <typename Type> std::string json(const Type &data, const char *name = "data")
{
    std::ostringstream text;
    {
        cereal::JSONOutputArchive archive{text};
        archive(cereal::make_nvp(name, data));
    }
    return text.str();
}

template <typename Type> Type from_json(const std::string &text)
{
    std::istringstream stream{text};
    cereal::JSONInputArchive archive{stream};
    Type data{};
    archive(cereal::make_nvp("data", data));
    return data;
}

template <typename Output, typename Input, typename Type> Type through(const Type &data)
{
    std::stringstream bytes;
    {
        Output archive{bytes};
        archive(data);
    }
    Input archive{bytes};
    Type back{};
    archive(back);
    return back;
}

template <typename Type> void round_trips(const char *type)
{
    samples::each_form<Type>([type](const char *form, const Type &sample) {
        const std::string text = json(sample);
        const bool same =
            json(from_json<Type>(text)) == text &&
            json(through<cereal::BinaryOutputArchive, cereal::BinaryInputArchive>(sample)) ==
                text &&
            json(through<cereal::PortableBinaryOutputArchive, cereal::PortableBinaryInputArchive>(
                sample)) == text;
        check(same, (std::string{type} + form + " comes back").c_str(), __LINE__);
    });
}

template <typename Type> void print_samples(const char *type)
{
    samples::each_form<Type>([type](const char *form, const Type &sample) {
        std::puts(json(sample, (std::string{type} + form).c_str()).c_str());
    });
}

void every_type_comes_back()
{
#define ROUND_TRIP(type) round_trips<type>(#type);
    ROCPROFILER_SDK_CXX_ARCHIVED(ROUND_TRIP)
#undef ROUND_TRIP
}

void values_are_those_of_the_members()
{
    rocprofiler_agent_v0_t agent;
    samples::fill(agent);
    const auto back = from_json<rocprofiler_agent_v0_t>(json(agent));
    CHECK(back.id.handle == agent.id.handle && back.gpu_id == agent.gpu_id);
    CHECK(back.capability.Value != 0 && back.name == std::string_view{"gfx90a"});
    CHECK(std::memcmp(back.uuid.bytes, agent.uuid.bytes, sizeof agent.uuid.bytes) == 0);
    CHECK(back.runtime_visibility.hsa == agent.runtime_visibility.hsa);
    CHECK(back.caches_count == 2 &&
          back.caches[1].type.ui32.HSACU == agent.caches[1].type.ui32.HSACU);

    rocprofiler_pc_sampling_record_stochastic_v0_t sample;
    samples::fill(sample);
    const auto sample_back =
        from_json<rocprofiler_pc_sampling_record_stochastic_v0_t>(json(sample));
    CHECK(sample_back.inst_type == ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_LDS);
    CHECK(sample_back.snapshot.reason_not_issued ==
          ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_BARRIER_WAIT);

    rocprofiler_counter_info_v1_t counter;
    samples::fill(counter);
    const auto counter_back = from_json<rocprofiler_counter_info_v1_t>(json(counter));
    CHECK(counter_back.dimensions_instances_count == 1);
    CHECK(counter_back.dimensions_instances[0]->dimensions[1]->index == 9);
}

/* Files of libraries before 1.0 have agents without what came with it. */
void agents_of_older_files_load()
{
    rocprofiler_agent_v0_t agent;
    samples::fill(agent);
    std::string text = json(agent);
    const std::size_t first = text.find("\"runtime_visibility\"");
    const std::size_t next = text.find("\"mem_banks\"");
    CHECK(first != std::string::npos && next != std::string::npos && first < next);
    text.erase(first, next - first);
    const auto back = from_json<rocprofiler_agent_v0_t>(text);
    CHECK(back.logical_node_type_id == agent.logical_node_type_id);
    CHECK(back.mem_banks_count == 1 && back.runtime_visibility.hsa == 0);
}

void what_is_not_there_is_reported()
{
    CHECK(
        throws<cereal::Exception>([] { from_json<rocprofiler_dim3_t>(R"({"data": {"x": 1}})"); }));
    CHECK(throws<cereal::Exception>([] {
        from_json<rocprofiler_callback_tracing_hip_stream_data_t>(
            R"({"data": {"size": 24, "stream_id": {"handle": 1}, "stream_value": "0x12 no"}})");
    }));
}

void nothing_behind_a_pointer_is_no_fault()
{
    CHECK(json(hsa_amd_event_scratch_free_start_t{}).find("\"queue_id\": 0") != std::string::npos);
    CHECK(json(rocprofiler_agent_v0_t{}).find("\"caches\": []") != std::string::npos);
    CHECK(json(rocprofiler_counter_info_v1_t{}).find("\"name\": \"\"") != std::string::npos);

    const rocprofiler_counter_record_dimension_info_t one{"DIMENSION_XCC", 4, 7};
    const rocprofiler_counter_record_dimension_info_t *list[] = {nullptr, &one, nullptr};
    rocprofiler_counter_info_v1_t counter{};
    counter.dimensions = list;
    counter.dimensions_count = 3;
    const auto back = from_json<rocprofiler_counter_info_v1_t>(json(counter));
    CHECK(back.dimensions_count == 1 && back.dimensions[0]->id == 7);
}

void equal_strings_are_kept_once()
{
    rocprofiler_counter_dimension_info_t dimension;
    samples::fill(dimension);
    const std::string text = json(dimension);
    const auto one = from_json<rocprofiler_counter_dimension_info_t>(text);
    const auto other = from_json<rocprofiler_counter_dimension_info_t>(text);
    CHECK(one.dimension_name == other.dimension_name);
}

void a_tools_own_functions_go_first()
{
    const int before = own_calls;
    CHECK(from_json<rocprofiler_version_triplet_t>(json(rocprofiler_version_triplet_t{6, 4, 3}))
              .patch == 3);
    CHECK(own_calls == before + 2);
}

void arguments_of_calls_are_written()
{
    rocprofiler_buffer_tracing_hip_api_ext_record_t record;
    samples::fill(record);
    record.args.hipSetDevice.deviceId = 5;
    const auto arguments = rocprofiler::sdk::serialization::get_buffer_tracing_args(record);
    CHECK(arguments.size() == 1 && arguments[0].name == "deviceId" && arguments[0].value == "5");
    const std::string text = json(record);
    CHECK(text.find("\"name\": \"deviceId\"") != std::string::npos);
    record.operation = 99999;
    CHECK(json(record).find("\"args\": []") != std::string::npos);
}

/* An array of kinds, as scripts index it by a record's "kind" and "operation". */
void names_are_an_array_of_kinds()
{
    const auto names = rocprofiler::sdk::get_buffer_tracing_names();
    const std::string text = json(names);
    CHECK(text.find("\"kind\": \"HIP_RUNTIME_API\"") != std::string::npos);
    CHECK(text.find("\"hipSetDevice\"") != std::string::npos);
    std::size_t kinds = 0;
    for (std::size_t at = text.find("\"kind\""); at != std::string::npos;
         at = text.find("\"kind\"", at + 1))
        kinds++;
    CHECK(kinds == ROCPROFILER_BUFFER_TRACING_LAST);
    CHECK(json(rocprofiler::sdk::get_buffer_tracing_names<const char *>()) == text);
    CHECK(json(rocprofiler::sdk::get_buffer_tracing_names<std::string>()) == text);
}

void containers_of_records_are_arrays()
{
    std::vector<rocprofiler_dim3_t> sizes = {{1, 2, 3}, {4, 5, 6}};
    const auto back = from_json<std::vector<rocprofiler_dim3_t>>(json(sizes));
    CHECK(back.size() == 2 && back[1].z == 6);
    const auto view = rocprofiler::sdk::container::make_c_array(sizes.data(), sizes.size());
    CHECK(json(view) == json(sizes));
}
} // namespace

int main(int count, char **words)
{
    if (count == 2 && std::string_view{words[1]} == "--samples") {
#define PRINT(type) print_samples<type>(#type);
        ROCPROFILER_SDK_CXX_ARCHIVED(PRINT)
#undef PRINT
        return 0;
    }
    every_type_comes_back();
    values_are_those_of_the_members();
    agents_of_older_files_load();
    what_is_not_there_is_reported();
    nothing_behind_a_pointer_is_no_fault();
    equal_strings_are_kept_once();
    a_tools_own_functions_go_first();
    arguments_of_calls_are_written();
    names_are_an_array_of_kinds();
    containers_of_records_are_arrays();
    return failures == 0 ? 0 : 1;
}
