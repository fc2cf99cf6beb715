/* Reads the SDK's structures from archives of cereal. C++17. Throws cereal's exceptions where the
 * archive does not hold what save.hpp writes. What C strings, arrays and queues of a structure
 * point to is kept until the process ends; equal strings are kept once. */
#ifndef ROCPROFILER_SDK_CXX_SERIALIZATION_LOAD_HPP
#define ROCPROFILER_SDK_CXX_SERIALIZATION_LOAD_HPP

#include <rocprofiler-sdk/cxx/details/archive_members.hpp>
#include <rocprofiler-sdk/cxx/details/cereal.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rocprofiler::sdk::serialization
{
/** What loaded structures point to. Any thread; never destroyed, since tools read them at exit. */
class kept_objects
{
  public:
    static kept_objects &instance()
    {
        static kept_objects *const objects = new kept_objects;
        return *objects;
    }

    const char *string(std::string text)
    {
        const std::lock_guard<std::mutex> guard{mutex_};
        return strings_.insert(std::move(text)).first->c_str();
    }

    template <typename Type> Type *object(Type value)
    {
        auto owner = std::make_shared<Type>(std::move(value));
        const std::lock_guard<std::mutex> guard{mutex_};
        objects_.push_back(owner);
        return owner.get();
    }

  private:
    std::mutex mutex_;
    std::unordered_set<std::string> strings_; /* whose elements do not move */
    std::vector<std::shared_ptr<const void>> objects_;
};
} // namespace rocprofiler::sdk::serialization

ROCPROFILER_SDK_CEREAL_NAMESPACE_BEGIN

namespace sdk = ::rocprofiler::sdk;

/** What the member lists call when a structure is read. */
template <typename Archive> struct rocprofiler_sdk_reader {
    static constexpr bool reads = true;

    Archive &archive;

    template <typename Value> void value(const char *key, Value &member)
    {
        archive(make_nvp(key, member));
    }
    /* An archive that knows names tells which member comes next. */
    template <typename Value> void optional(const char *key, Value &member)
    {
        if constexpr (traits::is_text_archive<Archive>::value) {
            const char *const next = archive.getNodeName();
            if (next == nullptr || std::strcmp(next, key) != 0)
                return;
        }
        value(key, member);
    }
    void text(const char *key, const char *&member)
    {
        member = sdk::serialization::kept_objects::instance().string(string(key));
    }
    void hex(const char *key, std::uint64_t &member)
    {
        const std::string digits = string(key);
        char *end = nullptr;
        member = std::strtoull(digits.c_str(), &end, 16);
        if (digits.empty() || *end != '\0')
            throw Exception(std::string{key} + " is no hexadecimal number: " + digits);
    }
    /* Unknown names leave the member as it is. */
    template <typename Value, typename Enum>
    void name(const char *key, Value &member, const char *(*name_of)(Enum))
    {
        const std::string read = string(key);
        for (unsigned candidate = 0; candidate < 64; candidate++) {
            const char *const known = name_of(static_cast<Enum>(candidate));
            if (known != nullptr && read == known)
                member = static_cast<Value>(candidate);
        }
    }
    void queue(const char *key, const hsa_queue_t *&member)
    {
        hsa_queue_t read{};
        value(key, read);
        member = sdk::serialization::kept_objects::instance().object(read);
    }
    template <typename Data> void arguments(const char *key, Data &)
    {
        std::vector<sdk::serialization::buffer_tracing_args> read;
        value(key, read);
    }
    template <typename Element, typename Count>
    void list(const char *key, Element *&elements, Count &count)
    {
        std::vector<std::remove_const_t<Element>> read;
        value(key, read);
        count = static_cast<Count>(read.size());
        elements = sdk::serialization::kept_objects::instance().object(std::move(read))->data();
    }
    template <typename Element, typename Count>
    void refs(const char *key, Element **&pointers, Count &count)
    {
        Element *elements = nullptr;
        list(key, elements, count);
        std::vector<Element *> addresses;
        for (Count i = 0; i < count; i++)
            addresses.push_back(elements + i);
        pointers =
            sdk::serialization::kept_objects::instance().object(std::move(addresses))->data();
    }

  private:
    std::string string(const char *key)
    {
        std::string read;
        value(key, read);
        return read;
    }
};

#define ROCPROFILER_SDK_CXX_LOAD(type)                                                             \
    template <typename Archive> void load(Archive &archive, type &data)                            \
    {                                                                                              \
        rocprofiler_sdk_reader<Archive> each{archive};                                             \
        sdk::serialization::archive_members<type>::visit(each, data);                              \
    }
ROCPROFILER_SDK_CXX_LOADED(ROCPROFILER_SDK_CXX_LOAD)
#undef ROCPROFILER_SDK_CXX_LOAD

/* The types that have no function of their own here, unless a tool has one. */
template <typename Archive, typename Type>
sdk::serialization::if_archived<Type> load(Archive &archive, Type &data)
{
    rocprofiler_sdk_reader<Archive> each{archive};
    sdk::serialization::archive_members<Type>::visit(each, data);
}

ROCPROFILER_SDK_CEREAL_NAMESPACE_END

#endif
