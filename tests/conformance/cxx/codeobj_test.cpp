/* Disassembly and source lines of a code object whose source is inlined.cl. */
#include <rocprofiler-sdk/cxx/codeobj/code_printing.hpp>

#include "check.hpp"

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using namespace rocprofiler::sdk::codeobj;
using disassembly::CodeobjAddressTranslate;

constexpr std::uint64_t LOAD_ADDRESS = 0x7f0000000000, LOAD_SIZE = 0x10000;
constexpr segment::marker_id_t ID = 7;

static std::vector<char> bytes_of(const char *path)
{
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

/** The comment's files without their folders. */
static std::string line_of(const std::string &comment)
{
    std::string line;
    for (std::size_t from = 0; from < comment.size();) {
        const auto arrow = std::min(comment.find(" -> ", from), comment.size());
        const auto place = comment.substr(from, arrow - from);
        line += (line.empty() ? "" : " -> ") + place.substr(place.rfind('/') + 1);
        from = arrow + 4;
    }
    return line;
}

static void every_instruction_has_text_and_some_have_lines(CodeobjAddressTranslate &table)
{
    const auto symbols = table.getSymbolMap();
    CHECK(symbols.size() == 1);
    const auto &[address, symbol] = *symbols.begin();
    CHECK(symbol.name == "squares");
    CHECK(address == LOAD_ADDRESS + symbol.vaddr);
    CHECK(table.getSymbolName(address) == symbol.name);
    CHECK(table.getSymbolMap(ID).count(symbol.vaddr) == 1 && table.getSymbolMap(ID + 1).empty());

    std::set<std::string> lines;
    std::string last;
    std::uint64_t at = address;
    while (at < address + symbol.mem_size) {
        const auto instruction = table.get(at);
        CHECK(instruction != nullptr);
        if (instruction == nullptr)
            return;
        CHECK(instruction->ld_addr == at && instruction->codeobj_id == ID);
        CHECK(instruction->size == 4 || instruction->size == 8);
        last = instruction->inst;
        lines.insert(line_of(instruction->comment));
        at += instruction->size;
    }
    CHECK(at == address + symbol.mem_size);
    CHECK(last == "s_endpgm");
    CHECK(lines.count("inlined.cl:4 -> inlined.cl:9 -> inlined.cl:15") == 1);
    CHECK(lines.count("inlined.cl:9 -> inlined.cl:15") == 1);
    CHECK(lines.count("inlined.cl:15") == 1);
    CHECK(table.get(ID, address - LOAD_ADDRESS)->ld_addr == address);
    CHECK(table.get(0, address)->ld_addr == address);
}

static void strangers_are_not_found(CodeobjAddressTranslate &table)
{
    CHECK(table.get(ID + 1, 0) == nullptr);
    CHECK(table.getSymbolName(ID + 1, 0) == nullptr);
    CHECK(table.get(LOAD_ADDRESS + LOAD_SIZE - 4) == nullptr);
    CHECK(throws<std::exception>([&] { table.get(LOAD_ADDRESS + LOAD_SIZE); }));
    CHECK(throws<std::exception>([&] { table.get(LOAD_ADDRESS - 1); }));
    CHECK(!table.removeDecoder(ID + 1));
    CHECK(table.removeDecoder(ID) && !table.removeDecoder(ID));
    CHECK(throws<std::exception>([&] { table.get(LOAD_ADDRESS); }));
}

static void files_are_read_by_uri_and_by_path(const std::string &path)
{
    const auto whole = bytes_of(path.c_str());
    CHECK(disassembly::CodeObjectBinary{"file://" + path}.buffer == whole);
    const disassembly::CodeObjectBinary part{"FILE://" + path + "#offset=16&size=0x20"};
    CHECK(part.buffer == std::vector<char>(whole.begin() + 16, whole.begin() + 48));
    for (const std::string bad : {"memory://1#offset=0&size=4", "", "file:///no/such/file"})
        CHECK(throws<std::runtime_error>([&] { disassembly::CodeObjectBinary{bad}; }));
    for (const std::string bad : {"#offset=99999999", "#size=99999999", "#offset=x"})
        CHECK(throws<std::runtime_error>([&] { disassembly::CodeObjectBinary{"file://" + path + bad}; }));

    CodeobjAddressTranslate table;
    table.addDecoder(path.c_str(), ID, LOAD_ADDRESS, LOAD_SIZE);
    every_instruction_has_text_and_some_have_lines(table);
    CHECK(throws<std::exception>([&] { table.addDecoder(nullptr, ID, 0, 0); }));
}

static void damaged_code_objects_are_refused(std::vector<char> bytes)
{
    CodeobjAddressTranslate table;
    CHECK(throws<std::exception>([&] { table.addDecoder("garbage", 7, ID, 0, 7); }));
    bytes.resize(bytes.size() / 2); /* no section headers any more: whatever comes, no crash */
    try {
        table.addDecoder(bytes.data(), bytes.size(), ID, LOAD_ADDRESS, LOAD_SIZE);
        table.get(LOAD_ADDRESS);
    } catch (const std::exception &) {
    }
}

int main(int argc, char **argv)
{
    const auto bytes = bytes_of(argc > 1 ? argv[1] : "");
    CHECK(!bytes.empty());
    CodeobjAddressTranslate table;
    table.addDecoder(bytes.data(), bytes.size(), ID, LOAD_ADDRESS, LOAD_SIZE);
    every_instruction_has_text_and_some_have_lines(table);
    strangers_are_not_found(table);
    files_are_read_by_uri_and_by_path(argv[1]);
    damaged_code_objects_are_refused(bytes);
    return failures != 0;
}
