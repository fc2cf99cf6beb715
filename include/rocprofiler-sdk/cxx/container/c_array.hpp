/* A view of an array that C code hands out as a pointer and a count. Owns nothing. C++17. */
#ifndef ROCPROFILER_SDK_CXX_CONTAINER_C_ARRAY_HPP
#define ROCPROFILER_SDK_CXX_CONTAINER_C_ARRAY_HPP

#include <cstddef>
#include <stdexcept>
#include <string>

namespace rocprofiler::sdk::container
{
template <typename Element> class c_array
{
  public:
    c_array(Element *base, std::size_t size) : base_{base}, size_{size} {}

    std::size_t size() const
    {
        return size_;
    }
    bool empty() const
    {
        return size_ == 0;
    }
    operator Element *() const
    {
        return base_;
    }

    Element &operator[](std::size_t index)
    {
        return base_[index];
    }
    const Element &operator[](std::size_t index) const
    {
        return base_[index];
    }

    /** Throws std::out_of_range beyond the end. */
    Element &at(std::size_t index)
    {
        return base_[checked(index)];
    }
    const Element &at(std::size_t index) const
    {
        return base_[checked(index)];
    }

    /** The elements from `first` up to, not including, `last`. */
    c_array slice(std::size_t first, std::size_t last)
    {
        return {base_ + first, last - first};
    }

    /** The view must not be empty. */
    void pop_front()
    {
        base_++;
        size_--;
    }
    void pop_back()
    {
        size_--;
    }

    Element *begin()
    {
        return base_;
    }
    Element *end()
    {
        return base_ + size_;
    }
    const Element *begin() const
    {
        return base_;
    }
    const Element *end() const
    {
        return base_ + size_;
    }

  private:
    std::size_t checked(std::size_t index) const
    {
        if (index >= size_)
            throw std::out_of_range("index " + std::to_string(index) + " of an array of " +
                                    std::to_string(size_));
        return index;
    }

    Element *base_;
    std::size_t size_;
};

template <typename Element> c_array<Element> make_c_array(Element *base, std::size_t size)
{
    return {base, size};
}
} // namespace rocprofiler::sdk::container

#endif
