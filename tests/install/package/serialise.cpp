// A record as JSON, through the SDK's serialisation and whatever cereal the machine has.
#include <cereal/archives/json.hpp>
#include <rocprofiler-sdk/cxx/serialization.hpp>

#include <sstream>

int main()
{
    rocprofiler_dim3_t size = {7, 8, 9};
    std::ostringstream text;
    {
        cereal::JSONOutputArchive archive{text};
        archive(cereal::make_nvp("size", size));
    }
    return text.str().find("\"y\": 8") == std::string::npos;
}
