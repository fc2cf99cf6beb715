/* The SDK's structures in cereal's archives: JSON files of records for scripts, binary ones for
 * tools. C++17 and the cereal library (https://uscilabs.github.io/cereal).
 *
 *     cereal::JSONOutputArchive archive{file};
 *     archive(cereal::make_nvp("records", records)); // std::vector of any record type
 *
 * A tool's own save() or load() for one of these types goes before those that only we have. */
#ifndef ROCPROFILER_SDK_CXX_SERIALIZATION_HPP
#define ROCPROFILER_SDK_CXX_SERIALIZATION_HPP

#include <rocprofiler-sdk/cxx/serialization/load.hpp>
#include <rocprofiler-sdk/cxx/serialization/save.hpp>

#endif
