/*
 * Loaded code objects: instruction, kernel and source line at an address. C++17.
 *
 * Addresses come from code object records (load_base, load_size) and from samples; ids are those of
 * the records. Needs AMD's code object manager (disassembly.hpp) and elfutils' libdw at link time.
 * No class here is for several threads at once.
 */
#ifndef ROCPROFILER_SDK_CXX_CODEOBJ_CODE_PRINTING_HPP
#define ROCPROFILER_SDK_CXX_CODEOBJ_CODE_PRINTING_HPP

#include <rocprofiler-sdk/cxx/codeobj/disassembly.hpp>
#include <rocprofiler-sdk/cxx/codeobj/segment.hpp>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rocprofiler::sdk::codeobj::disassembly
{
using marker_id_t = segment::marker_id_t;

/** `comment` is FILE:LINE of the source and, where functions are inlined, the places of the calls
 * from the inner to the outer one, with `separator` between. */
struct Instruction {
    Instruction() = default;
    Instruction(std::string &&text, std::size_t size_bytes)
        : inst{std::move(text)}, size{size_bytes}
    {
    }

    std::string inst{};
    std::string comment{};
    std::uint64_t faddr{0};    /**< place in the file */
    std::uint64_t vaddr{0};    /**< address in the ELF image */
    std::size_t size{0};       /**< bytes */
    std::uint64_t ld_addr{0};  /**< address in the process, when the code object is loaded */
    marker_id_t codeobj_id{0}; /**< id of the loaded code object */

    static constexpr std::string_view separator = " -> ";
};

/** The source lines of a code object, from its DWARF sections; empty when it has none. */
class SourceLines
{
  public:
    using Map = std::map<segment::address_range_t, std::string>;

    static Map read(const char *codeobj_data, std::uint64_t codeobj_size)
    {
        const File file{codeobj_data, codeobj_size};
        const std::unique_ptr<Dwarf, int (*)(Dwarf *)> dwarf{
            dwarf_begin(file.descriptor, DWARF_C_READ), dwarf_end};
        std::map<std::uint64_t, std::string> starts;
        Dwarf_Off unit = 0, next = 0;
        std::size_t header_bytes = 0;
        for (; dwarf && dwarf_nextcu(dwarf.get(), unit, &next, &header_bytes, nullptr, nullptr,
                                     nullptr) == 0;
             unit = next) {
            Dwarf_Die die;
            if (dwarf_offdie(dwarf.get(), unit + header_bytes, &die) != nullptr)
                add_unit(&die, starts);
        }
        return ranges(std::move(starts), codeobj_size);
    }

  private:
    /** libdw reads files only: an unnamed one in memory. */
    struct File {
        File(const char *bytes, std::uint64_t size_bytes)
            : descriptor{memfd_create("code object", MFD_CLOEXEC)}
        {
            while (descriptor >= 0 && size_bytes > 0) {
                const auto written = write(descriptor, bytes, size_bytes);
                if (written <= 0)
                    break;
                bytes += written;
                size_bytes -= static_cast<std::uint64_t>(written);
            }
            if (size_bytes == 0 && descriptor >= 0)
                return;
            if (descriptor >= 0)
                close(descriptor);
            throw std::runtime_error("no memory for a copy of the code object");
        }
        ~File()
        {
            close(descriptor);
        }
        File(const File &) = delete;
        File &operator=(const File &) = delete;
        int descriptor;
    };

    static void add_unit(Dwarf_Die *unit, std::map<std::uint64_t, std::string> &starts)
    {
        Dwarf_Lines *lines = nullptr;
        std::size_t count = 0;
        if (dwarf_getsrclines(unit, &lines, &count) != 0)
            return;
        for (std::size_t i = 0; i < count; i++) {
            Dwarf_Line *line = dwarf_onesrcline(lines, i);
            Dwarf_Addr address = 0;
            int number = 0;
            const char *file = line != nullptr ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
            if (file == nullptr || dwarf_lineaddr(line, &address) != 0 ||
                dwarf_lineno(line, &number) != 0 || number == 0)
                continue;
            starts[address] = file + (":" + std::to_string(number)) + call_sites(unit, address);
        }
    }

    static std::string call_sites(Dwarf_Die *unit, Dwarf_Addr address)
    {
        std::string sites;
        Dwarf_Die *scopes = nullptr, *parents = nullptr;
        if (dwarf_getscopes(unit, address, &scopes) > 0) {
            /* Scopes of an inlined function go on with where it is written; its parents are where
             * it is called. */
            const int count = dwarf_getscopes_die(&scopes[0], &parents);
            for (int i = 0; i < count; i++)
                add_call_site(unit, &parents[i], sites);
        }
        std::free(scopes);
        std::free(parents);
        return sites;
    }

    static void add_call_site(Dwarf_Die *unit, Dwarf_Die *scope, std::string &sites)
    {
        Dwarf_Attribute attribute;
        Dwarf_Word file = 0, line = 0;
        Dwarf_Files *files = nullptr;
        std::size_t count = 0;
        if (dwarf_tag(scope) != DW_TAG_inlined_subroutine ||
            dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0 ||
            dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) != 0 ||
            dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
            return;
        const char *name = dwarf_filesrc(files, file, nullptr, nullptr);
        if (name == nullptr)
            return;
        sites += Instruction::separator;
        sites += name + (":" + std::to_string(line));
    }

    /** A line goes on to the next one's address, the last to the end. */
    static Map ranges(std::map<std::uint64_t, std::string> &&starts, std::uint64_t end)
    {
        Map lines;
        for (auto line = starts.begin(); line != starts.end(); ++line) {
            const auto next = std::next(line);
            const auto stop = next != starts.end() ? next->first : std::max(end, line->first + 1);
            lines.emplace(segment::address_range_t{line->first, stop - line->first, 0},
                          std::move(line->second));
        }
        return lines;
    }
};

/** One code object as a file: lines, kernels, instructions. */
class CodeobjDecoderComponent
{
  public:
    CodeobjDecoderComponent(const char *codeobj_data, std::uint64_t codeobj_size)
        : disassembly{std::make_unique<DisassemblyInstance>(codeobj_data, codeobj_size)},
          m_line_number_map{SourceLines::read(codeobj_data, codeobj_size)}
    {
        try {
            m_symbol_map = disassembly->GetKernelMap();
        } catch (const std::exception &) {
            /* A code object without symbols still has instructions. */
        }
    }

    std::optional<std::uint64_t> va2fo(std::uint64_t vaddr) const
    {
        return disassembly->va2fo(vaddr);
    }

    std::unique_ptr<Instruction> disassemble_instruction(std::uint64_t faddr, std::uint64_t vaddr)
    {
        auto [text, size_bytes] = disassembly->ReadInstruction(faddr);
        auto instruction = std::make_unique<Instruction>(std::move(text), size_bytes);
        instruction->faddr = faddr;
        instruction->vaddr = vaddr;
        const auto line = m_line_number_map.find({vaddr, 0, 0});
        if (line != m_line_number_map.end())
            instruction->comment = line->second;
        return instruction;
    }

    std::map<std::uint64_t, SymbolInfo> m_symbol_map{};
    std::vector<std::shared_ptr<Instruction>> instructions{};
    std::unique_ptr<DisassemblyInstance> disassembly;
    SourceLines::Map m_line_number_map{};
};

/** A code object at its address in the process. */
class LoadedCodeobjDecoder
{
  public:
    /** `filepath` is the URI of a code object record, or a file's path. */
    LoadedCodeobjDecoder(const char *filepath, std::uint64_t load_address, std::uint64_t mem_size)
        : load_addr{load_address}, load_end{load_address + mem_size}
    {
        if (filepath == nullptr)
            throw std::runtime_error("a code object without a name");
        const std::string name{filepath};
        const bool is_uri = name.find("://") != std::string::npos;
        const CodeObjectBinary binary{is_uri ? name : "file://" + escaped(name)};
        decoder =
            std::make_unique<CodeobjDecoderComponent>(binary.buffer.data(), binary.buffer.size());
    }

    LoadedCodeobjDecoder(const void *data, std::uint64_t size_bytes, std::uint64_t load_address,
                         std::size_t mem_size)
        : load_addr{load_address}, load_end{load_address + mem_size},
          decoder{std::make_unique<CodeobjDecoderComponent>(static_cast<const char *>(data),
                                                            size_bytes)}
    {
    }

    /** The instruction at an address of the process; null where there is none. */
    std::unique_ptr<Instruction> get(std::uint64_t address)
    {
        if (!inrange(address))
            return nullptr;
        const auto place = decoder->va2fo(address - load_addr);
        if (!place)
            return nullptr;
        auto instruction = decoder->disassemble_instruction(*place, address - load_addr);
        if (instruction->size == 0)
            return nullptr;
        instruction->ld_addr = address;
        return instruction;
    }

    std::uint64_t begin() const
    {
        return load_addr;
    }
    std::uint64_t end() const
    {
        return load_end;
    }
    std::uint64_t size() const
    {
        return load_end - load_addr;
    }
    bool inrange(std::uint64_t address) const
    {
        return address >= load_addr && address < load_end;
    }

    /** The function that starts at this address of the process, or null. */
    const char *getSymbolName(std::uint64_t address) const
    {
        const auto found = decoder->m_symbol_map.find(address - load_addr);
        return found != decoder->m_symbol_map.end() ? found->second.name.c_str() : nullptr;
    }

    /** Functions by their address in the ELF image. */
    std::map<std::uint64_t, SymbolInfo> &getSymbolMap() const
    {
        return decoder->m_symbol_map;
    }

    const std::uint64_t load_addr;

  private:
    static std::string escaped(const std::string &path)
    {
        std::string uri;
        for (const char letter : path) {
            if (letter == '%')
                uri += "%25";
            else if (letter == '#')
                uri += "%23";
            else if (letter == '?')
                uri += "%3f";
            else
                uri += letter;
        }
        return uri;
    }

    std::uint64_t load_end;
    std::unique_ptr<CodeobjDecoderComponent> decoder;
};

/** Code objects by id, addressed by offsets from their load addresses. */
class CodeobjMap
{
  public:
    CodeobjMap() = default;
    virtual ~CodeobjMap() = default;

    virtual void addDecoder(const char *filepath, marker_id_t id, std::uint64_t load_address,
                            std::uint64_t mem_size)
    {
        decoders[id] = std::make_shared<LoadedCodeobjDecoder>(filepath, load_address, mem_size);
    }

    virtual void addDecoder(const void *data, std::size_t size_bytes, marker_id_t id,
                            std::uint64_t load_address, std::uint64_t mem_size)
    {
        decoders[id] =
            std::make_shared<LoadedCodeobjDecoder>(data, size_bytes, load_address, mem_size);
    }

    virtual bool removeDecoderbyId(marker_id_t id)
    {
        return decoders.erase(id) != 0;
    }

    /** Null for an unknown id and where there is no instruction. */
    std::unique_ptr<Instruction> get(marker_id_t id, std::uint64_t offset)
    {
        const auto found = decoders.find(id);
        if (found == decoders.end())
            return nullptr;
        auto instruction = found->second->get(found->second->begin() + offset);
        if (instruction != nullptr)
            instruction->codeobj_id = id;
        return instruction;
    }

    const char *getSymbolName(marker_id_t id, std::uint64_t offset)
    {
        const auto found = decoders.find(id);
        if (found == decoders.end() || offset >= found->second->size())
            return nullptr;
        return found->second->getSymbolName(found->second->begin() + offset);
    }

  protected:
    std::unordered_map<marker_id_t, std::shared_ptr<LoadedCodeobjDecoder>> decoders{};
};

/** Code objects by id and by addresses of the process. */
class CodeobjAddressTranslate : public CodeobjMap
{
  public:
    void addDecoder(const char *filepath, marker_id_t id, std::uint64_t load_address,
                    std::uint64_t mem_size) override
    {
        CodeobjMap::addDecoder(filepath, id, load_address, mem_size);
        table.insert({load_address, mem_size, id});
    }

    void addDecoder(const void *data, std::size_t size_bytes, marker_id_t id,
                    std::uint64_t load_address, std::uint64_t mem_size) override
    {
        CodeobjMap::addDecoder(data, size_bytes, id, load_address, mem_size);
        table.insert({load_address, mem_size, id});
    }

    bool removeDecoder(marker_id_t id, std::uint64_t load_address)
    {
        return table.remove(load_address) && removeDecoderbyId(id);
    }

    bool removeDecoder(marker_id_t id)
    {
        const auto found = decoders.find(id);
        return found != decoders.end() && removeDecoder(id, found->second->begin());
    }

    /** Throws std::exception for an address outside of all code objects. */
    std::unique_ptr<Instruction> get(std::uint64_t address)
    {
        const auto range = table.find_codeobj_in_range(address);
        return CodeobjMap::get(range.id, address - range.addr);
    }

    /** With id 0, `offset` is an address of the process. */
    std::unique_ptr<Instruction> get(marker_id_t id, std::uint64_t offset)
    {
        return id == 0 ? get(offset) : CodeobjMap::get(id, offset);
    }

    using CodeobjMap::getSymbolName;
    const char *getSymbolName(std::uint64_t address)
    {
        for (const auto &[id, decoder] : decoders) {
            if (decoder->inrange(address))
                return decoder->getSymbolName(address);
        }
        return nullptr;
    }

    /** The functions of all code objects by their addresses in the process. */
    std::map<std::uint64_t, SymbolInfo> getSymbolMap() const
    {
        std::map<std::uint64_t, SymbolInfo> all;
        for (const auto &[id, decoder] : decoders) {
            for (const auto &[vaddr, symbol] : decoder->getSymbolMap())
                all[vaddr + decoder->load_addr] = symbol;
        }
        return all;
    }

    /** The functions of one code object by their addresses in its image; none for an unknown id. */
    std::map<std::uint64_t, SymbolInfo> getSymbolMap(marker_id_t id) const
    {
        const auto found = decoders.find(id);
        if (found == decoders.end())
            return {};
        return found->second->getSymbolMap();
    }

  private:
    segment::CodeobjTableTranslator table{};
};
} // namespace rocprofiler::sdk::codeobj::disassembly

#endif
