/*
 * One code object: its bytes, its kernels, and its instructions as text. C++17.
 *
 * Needs AMD's code object manager: `amd_comgr/amd_comgr.h`, and libamd_comgr at link time. Errors
 * are exceptions derived from std::runtime_error.
 */
#ifndef ROCPROFILER_SDK_CXX_CODEOBJ_DISASSEMBLY_HPP
#define ROCPROFILER_SDK_CXX_CODEOBJ_DISASSEMBLY_HPP

#if __has_include(<amd_comgr/amd_comgr.h>)
#include <amd_comgr/amd_comgr.h>
#else /* ROCm before 5.6 and Debian's packages */
#include <amd_comgr.h>
#endif

#include <elf.h>
#include <fcntl.h> // these and <limits>: AMD's header has them, and its users rely on it
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rocprofiler::sdk::codeobj::disassembly
{
/** The bytes that a code object's URI names: file://PATH[#offset=N&size=N], with %XX in the path.
 * Memory URIs are refused: another process' memory is not there to read. */
class CodeObjectBinary
{
  public:
    explicit CodeObjectBinary(std::string uri) : m_uri{std::move(uri)}
    {
        const auto scheme_end = m_uri.find("://");
        if (scheme_end == std::string::npos || lower(m_uri.substr(0, scheme_end)) != "file")
            throw std::runtime_error("not a file URI: " + m_uri);
        const auto path_begin = scheme_end + 3;
        const auto path_end = std::min(m_uri.find_first_of("#?", path_begin), m_uri.size());
        const auto path = decode(m_uri.substr(path_begin, path_end - path_begin));
        read(path, parameter("offset", path_end).value_or(0), parameter("size", path_end));
    }

    std::string m_uri;
    std::vector<char> buffer;

  private:
    static std::string lower(std::string text)
    {
        for (char &letter : text)
            letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        return text;
    }

    static std::string decode(const std::string &path)
    {
        std::string plain;
        for (std::size_t i = 0; i < path.size(); i++) {
            const auto is_digit = [&](std::size_t at) {
                return at < path.size() && std::isxdigit(static_cast<unsigned char>(path[at]));
            };
            if (path[i] != '%' || !is_digit(i + 1) || !is_digit(i + 2)) {
                plain += path[i];
                continue;
            }
            plain += static_cast<char>(std::stoi(path.substr(i + 1, 2), nullptr, 16));
            i += 2;
        }
        return plain;
    }

    /** NAME=NUMBER behind the path, divided by '&'. */
    std::optional<std::size_t> parameter(std::string_view name, std::size_t from) const
    {
        while (from < m_uri.size()) {
            const auto end = std::min(m_uri.find('&', from + 1), m_uri.size());
            const auto equals = m_uri.find('=', from + 1);
            if (equals < end && m_uri.compare(from + 1, equals - from - 1, name) == 0)
                return number(m_uri.substr(equals + 1, end - equals - 1));
            from = end;
        }
        return std::nullopt;
    }

    std::size_t number(const std::string &digits) const
    {
        try {
            return std::stoull(digits, nullptr, 0);
        } catch (const std::exception &) {
            throw std::runtime_error("not a number in " + m_uri + ": " + digits);
        }
    }

    void read(const std::string &path, std::size_t offset, std::optional<std::size_t> size)
    {
        std::ifstream file{path, std::ios::binary | std::ios::ate};
        if (!file)
            throw std::runtime_error("cannot open " + path);
        const auto file_size = static_cast<std::size_t>(file.tellg());
        if (offset > file_size || size.value_or(0) > file_size - offset)
            throw std::runtime_error(m_uri + " is beyond the end of the file");
        buffer.resize(size.value_or(file_size - offset));
        file.seekg(static_cast<std::streamoff>(offset));
        if (!file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())))
            throw std::runtime_error("cannot read " + path);
    }
};

/** A function in a code object. `vaddr` is its address in the ELF file's own address space, `faddr`
 * its place in the file. */
struct SymbolInfo {
    std::string name{};
    std::uint64_t faddr = 0;
    std::uint64_t vaddr = 0;
    std::uint64_t mem_size = 0;
};

/** Reads instructions. Keeps a copy of the code object. Not for several threads at once. */
class DisassemblyInstance
{
  public:
    DisassemblyInstance(const char *codeobj_data, std::uint64_t codeobj_size)
        : buffer(codeobj_data, codeobj_data + codeobj_size)
    {
        try {
            check(amd_comgr_create_data(AMD_COMGR_DATA_KIND_EXECUTABLE, &data));
            check(amd_comgr_set_data(data, buffer.size(), buffer.data()));
            std::size_t size = 0;
            check(amd_comgr_get_data_isa_name(data, &size, nullptr));
            std::string isa(size, '\0');
            check(amd_comgr_get_data_isa_name(data, &size, isa.data()));
            check(amd_comgr_create_disassembly_info(
                isa.c_str(), read_memory, take_instruction, [](std::uint64_t, void *) {}, &info));
        } catch (...) {
            release();
            throw;
        }
    }
    ~DisassemblyInstance()
    {
        release();
    }
    DisassemblyInstance(const DisassemblyInstance &) = delete;
    DisassemblyInstance &operator=(const DisassemblyInstance &) = delete;

    /** The instruction at a place in the file, and its size in bytes. */
    std::pair<std::string, std::size_t> ReadInstruction(std::uint64_t faddr)
    {
        if (faddr >= buffer.size())
            throw std::runtime_error("no instruction: beyond the end of the code object");
        last_instruction.clear();
        std::uint64_t size_bytes = 0;
        const auto address = reinterpret_cast<std::uint64_t>(buffer.data()) + faddr;
        check(amd_comgr_disassemble_instruction(info, address, this, &size_bytes));
        return {std::move(last_instruction), size_bytes};
    }

    /** The functions by `vaddr`. */
    std::map<std::uint64_t, SymbolInfo> &GetKernelMap()
    {
        symbol_map.clear();
        check(amd_comgr_iterate_symbols(data, take_symbol, this));
        return symbol_map;
    }

    /** Where in the file an address of the ELF image is; nothing for addresses without bytes. */
    std::optional<std::uint64_t> va2fo(std::uint64_t vaddr) const
    {
        /* From the program headers: releases before ROCm 5.5 have no function for it. */
        const auto header = read_at<Elf64_Ehdr>(0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
            return std::nullopt;
        for (std::uint64_t i = 0; i < header->e_phnum; i++) {
            const auto segment = read_at<Elf64_Phdr>(header->e_phoff + i * header->e_phentsize);
            if (!segment)
                return std::nullopt;
            if (segment->p_type == PT_LOAD && vaddr >= segment->p_vaddr &&
                vaddr - segment->p_vaddr < segment->p_filesz)
                return vaddr - segment->p_vaddr + segment->p_offset;
        }
        return std::nullopt;
    }

    std::vector<char> buffer{};
    std::string last_instruction{};
    amd_comgr_disassembly_info_t info{};
    amd_comgr_data_t data{};
    std::map<std::uint64_t, SymbolInfo> symbol_map{};

  private:
    template <typename Part> std::optional<Part> read_at(std::uint64_t offset) const
    {
        Part part;
        if (offset > buffer.size() || buffer.size() - offset < sizeof part)
            return std::nullopt;
        std::memcpy(&part, buffer.data() + offset, sizeof part);
        return part;
    }

    static void check(amd_comgr_status_t status)
    {
        if (status == AMD_COMGR_STATUS_SUCCESS)
            return;
        const char *reason = nullptr;
        amd_comgr_status_string(status, &reason);
        throw std::runtime_error(std::string{"code object manager: "} +
                                 (reason != nullptr ? reason : "unknown error"));
    }

    void release()
    {
        if (info.handle != 0)
            amd_comgr_destroy_disassembly_info(info);
        if (data.handle != 0)
            amd_comgr_release_data(data);
    }

    static std::uint64_t read_memory(std::uint64_t from, char *to, std::uint64_t size_bytes,
                                     void *self)
    {
        const auto &bytes = static_cast<DisassemblyInstance *>(self)->buffer;
        const auto begin = reinterpret_cast<std::uint64_t>(bytes.data());
        if (from < begin || from - begin >= bytes.size())
            return 0;
        const auto readable = std::min<std::uint64_t>(size_bytes, bytes.size() - (from - begin));
        std::memcpy(to, bytes.data() + (from - begin), readable);
        return readable;
    }

    static void take_instruction(const char *text, void *self)
    {
        if (text != nullptr)
            static_cast<DisassemblyInstance *>(self)->last_instruction =
                text + std::strspn(text, " \t");
    }

    /* Called from C: nothing may be thrown through it. */
    static amd_comgr_status_t take_symbol(amd_comgr_symbol_t symbol, void *self)
    {
        try {
            static_cast<DisassemblyInstance *>(self)->add_symbol(symbol);
            return AMD_COMGR_STATUS_SUCCESS;
        } catch (...) {
            return AMD_COMGR_STATUS_ERROR;
        }
    }

    void add_symbol(amd_comgr_symbol_t symbol)
    {
        amd_comgr_symbol_type_t type{};
        check(amd_comgr_symbol_get_info(symbol, AMD_COMGR_SYMBOL_INFO_TYPE, &type));
        if (type != AMD_COMGR_SYMBOL_TYPE_FUNC)
            return;
        SymbolInfo found;
        std::uint64_t length = 0;
        check(amd_comgr_symbol_get_info(symbol, AMD_COMGR_SYMBOL_INFO_VALUE, &found.vaddr));
        check(amd_comgr_symbol_get_info(symbol, AMD_COMGR_SYMBOL_INFO_SIZE, &found.mem_size));
        check(amd_comgr_symbol_get_info(symbol, AMD_COMGR_SYMBOL_INFO_NAME_LENGTH, &length));
        found.name.resize(length + 1); /* the name comes with its terminating zero */
        check(amd_comgr_symbol_get_info(symbol, AMD_COMGR_SYMBOL_INFO_NAME, found.name.data()));
        found.name.resize(length);
        const auto place = va2fo(found.vaddr);
        if (!place)
            return;
        found.faddr = *place;
        symbol_map[found.vaddr] = std::move(found);
    }
};
} // namespace rocprofiler::sdk::codeobj::disassembly

#endif
