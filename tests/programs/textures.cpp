// Textures over arrays of one to three dimensions, layered ones, pitched and linear memory, in the
// element types, filters and address modes that HIP has, at places where nearest texels are certain
// and between them; surfaces read and written. The host computes each sample from the array alone.
#include "common.h"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <vector>

static const float MARGIN = 1.0f / 32; // of a texel: nearest keeps away from edges

struct Place {
    float x, y, z;
    int layer;
};
enum Kind { LINE, PLANE, VOLUME, LINE_LAYERS, PLANE_LAYERS, PITCHED };
static const char *const kind_names[] = {"1D",         "2D",         "3D",
                                         "1D layered", "2D layered", "pitched 2D"};

// Element types: what a component is, how many, and what it is worth.
template <typename T> struct Element;
#define ELEMENT(type, component, number)                                                           \
    template <> struct Element<type> {                                                             \
        typedef component Component;                                                               \
        enum { count = number };                                                                   \
    };
ELEMENT(float, float, 1)
ELEMENT(float2, float, 2)
ELEMENT(float4, float, 4)
ELEMENT(unsigned char, unsigned char, 1)
ELEMENT(uchar4, unsigned char, 4)
ELEMENT(char2, signed char, 2)
ELEMENT(unsigned short, unsigned short, 1)
ELEMENT(short4, short, 4)
ELEMENT(int2, int, 2)
ELEMENT(unsigned int, unsigned int, 1)

template <typename T, int KIND> __device__ T sampled(hipTextureObject_t texture, const Place &p)
{
    if (KIND == LINE)
        return tex1D<T>(texture, p.x);
    else if (KIND == VOLUME)
        return tex3D<T>(texture, p.x, p.y, p.z);
    else if (KIND == LINE_LAYERS)
        return tex1DLayered<T>(texture, p.x, p.layer);
    else if (KIND == PLANE_LAYERS)
        return tex2DLayered<T>(texture, p.x, p.y, p.layer);
    else
        return tex2D<T>(texture, p.x, p.y);
}

template <typename T, int KIND>
__global__ void sample(hipTextureObject_t texture, const Place *places, T *out, int count)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count)
        out[at] = sampled<T, KIND>(texture, places[at]);
}

struct Shape {
    Kind kind;
    int size[3]; // the last one: depth or layers
    bool linear, normalised_place, normalised_value;
    hipTextureAddressMode mode;
};

static int dimensions(Kind kind)
{
    return kind == LINE || kind == LINE_LAYERS ? 1 : kind == VOLUME ? 3 : 2;
}

// The texel that an index beyond the edge means; -1: the border.
static int continued(int at, int size, hipTextureAddressMode mode)
{
    if (mode == hipAddressModeBorder)
        return at < 0 || at >= size ? -1 : at;
    if (mode == hipAddressModeClamp)
        return at < 0 ? 0 : at >= size ? size - 1 : at;
    int period = mode == hipAddressModeWrap ? size : 2 * size,
        rest = (at % period + period) % period;
    return rest < size ? rest : 2 * size - 1 - rest;
}

template <typename C> static double worth(C value, bool normalised)
{
    if (!normalised)
        return (double)value;
    double greatest = sizeof(C) == 1 ? (C(-1) > 0 ? 255 : 127) : (C(-1) > 0 ? 65535 : 32767);
    double share = (double)value / greatest;
    return share < -1 ? -1 : share;
}

template <typename T> struct Texels {
    typedef typename Element<T>::Component C;
    std::vector<C> values;
    Shape shape;
    double component(const int at[3], int n) const
    {
        if (at[0] < 0 || at[1] < 0 || at[2] < 0)
            return n == 3 && Element<T>::count < 4 ? 1 : 0;
        size_t texel = ((size_t)at[2] * shape.size[1] + at[1]) * shape.size[0] + at[0];
        return worth(values[texel * Element<T>::count + n], shape.normalised_value);
    }
    // Of all texels around: the weighted mean.
    double at(const Place &place, int n) const
    {
        const float given[3] = {place.x, place.y, place.z};
        double sum = 0;
        for (int corner = 0; corner < 8; corner++) {
            int texel[3] = {
                0, 0, shape.kind == LINE_LAYERS || shape.kind == PLANE_LAYERS ? place.layer : 0};
            double weight = 1;
            for (int axis = 0; axis < 3; axis++) {
                bool second = corner >> axis & 1;
                if (axis >= dimensions(shape.kind)) {
                    weight *= second ? 0 : 1;
                    continue;
                }
                double where =
                    given[axis] * (shape.normalised_place ? (double)shape.size[axis] : 1);
                double low = std::floor(shape.linear ? where - 0.5 : where);
                double share = shape.linear ? where - 0.5 - low : 0;
                weight *= second ? share : 1 - share;
                texel[axis] = continued((int)low + second, shape.size[axis], shape.mode);
            }
            if (weight > 0)
                sum += weight * component(texel, n);
        }
        return sum;
    }
};

// A coordinate in texels, away from the edges between them.
static float coordinate(Random &random, int size, const Shape &shape)
{
    float at = (float)(random.bits() % (unsigned)(3 * size)) - (float)size;
    at += MARGIN + (1 - 2 * MARGIN) * (float)(random.bits() % 1024) / 1024;
    return shape.normalised_place ? at / (float)size : at;
}

template <typename C> static C value_of(Random &random, bool small)
{
    if (sizeof(C) == 4 && C(0.5) == 0) // wide integers
        return (C)random.bits();
    if (C(0.5) != 0)
        return (C)((double)(random.bits() % 4096) / (small ? 4096 : 3));
    return (C)random.bits();
}

static hipArray_t array_make(const Shape &shape, const hipChannelFormatDesc &channels, size_t bytes,
                             const void *texels)
{
    hipArray_t array;
    bool layers = shape.kind == LINE_LAYERS || shape.kind == PLANE_LAYERS;
    hipExtent extent = make_hipExtent(shape.size[0], dimensions(shape.kind) > 1 ? shape.size[1] : 0,
                                      shape.kind == VOLUME || layers ? shape.size[2] : 0);
    HIP_CHECK(
        hipMalloc3DArray(&array, &channels, extent, layers ? hipArrayLayered : hipArrayDefault));
    size_t row = shape.size[0] * bytes;
    if (shape.size[2] == 1) {
        HIP_CHECK(hipMemcpy2DToArray(array, 0, 0, texels, row, row, shape.size[1],
                                     hipMemcpyHostToDevice));
        return array;
    }
    hipMemcpy3DParms copy = {};
    copy.srcPtr = make_hipPitchedPtr((void *)texels, row, shape.size[0], shape.size[1]);
    copy.dstArray = array;
    copy.extent = make_hipExtent(shape.size[0], shape.size[1], shape.size[2]);
    copy.kind = hipMemcpyHostToDevice;
    hipError_t status = hipMemcpy3D(&copy);
    if (status == hipErrorInvalidValue && shape.kind == LINE_LAYERS) // to HIP 5.2.3 a plane
        status =
            hipMemcpy2DToArray(array, 0, 0, texels, row, row, shape.size[2], hipMemcpyHostToDevice);
    if (status == hipErrorInvalidValue && shape.kind == LINE_LAYERS) { // and to HIP 5.7 nothing
        HIP_CHECK(hipFreeArray(array));
        return nullptr;
    }
    HIP_CHECK(status);
    return array;
}

template <typename T, typename R, int KIND>
static size_t compare(const Texels<T> &texels, hipTextureObject_t texture, Random &random)
{
    enum { PLACES = 1000 };
    const Shape &shape = texels.shape;
    std::vector<Place> places(PLACES);
    std::vector<R> got(PLACES);
    for (Place &p : places) {
        p = {coordinate(random, shape.size[0], shape), coordinate(random, shape.size[1], shape),
             coordinate(random, shape.size[2], shape),
             (int)(random.bits() % (unsigned)shape.size[2])};
    }
    Place *device_places;
    R *device_got;
    HIP_CHECK(hipMalloc((void **)&device_places, PLACES * sizeof(Place)));
    HIP_CHECK(hipMalloc((void **)&device_got, PLACES * sizeof(R)));
    HIP_CHECK(
        hipMemcpy(device_places, places.data(), PLACES * sizeof(Place), hipMemcpyHostToDevice));
    sample<R, KIND><<<(PLACES + 127) / 128, 128>>>(texture, device_places, device_got, PLACES);
    HIP_CHECK(hipMemcpy(got.data(), device_got, PLACES * sizeof(R), hipMemcpyDeviceToHost));
    HIP_CHECK(hipFree(device_places));
    HIP_CHECK(hipFree(device_got));
    size_t wrong = 0;
    // Weights are multiples of 1/256 on each axis, values at most 2 apart.
    double slack = shape.linear ? dimensions(shape.kind) / 250.0 : 1e-6;
    for (int i = 0; i < PLACES; i++) {
        for (int n = 0; n < Element<T>::count; n++) {
            typename Element<R>::Component value;
            memcpy(&value, (const char *)&got[i] + n * sizeof value, sizeof value);
            double want = texels.at(places[i], n);
            if (std::fabs((double)value - want) <= slack)
                continue;
            if (wrong++ == 0)
                printf("%s, %s, mode %d, component %d at %g %g %g layer %d: %g, not %g\n",
                       kind_names[shape.kind], shape.linear ? "linear" : "nearest", shape.mode, n,
                       places[i].x, places[i].y, places[i].z, places[i].layer, (double)value, want);
        }
    }
    return wrong;
}

// T: element in memory, R: what a sample is.
template <typename T, typename R, int KIND> static size_t one_texture(Shape shape)
{
    typedef typename Element<T>::Component C;
    shape.kind = (Kind)KIND;
    for (int axis = dimensions(shape.kind); axis < 2; axis++)
        shape.size[axis] = 1;
    if (KIND != VOLUME && KIND != LINE_LAYERS && KIND != PLANE_LAYERS)
        shape.size[2] = 1;
    Random random((uint64_t)shape.size[0] * 131 + shape.size[1] * 17 + KIND);
    Texels<T> texels = {{}, shape};
    texels.values.resize((size_t)shape.size[0] * shape.size[1] * shape.size[2] * Element<T>::count);
    for (C &value : texels.values)
        value = value_of<C>(random, shape.linear);
    hipChannelFormatDesc channels = hipCreateChannelDesc<T>();
    if (C(0.5) == 0) // HIP 5.2.3 calls uchar4 signed
        channels.f = C(-1) > 0 ? hipChannelFormatKindUnsigned : hipChannelFormatKindSigned;
    hipResourceDesc resource = {};
    hipTextureDesc how = {};
    hipArray_t array = nullptr;
    void *pitched = nullptr;
    if (KIND == PITCHED) {
        size_t pitch, row = shape.size[0] * sizeof(T);
        HIP_CHECK(hipMallocPitch(&pitched, &pitch, row, shape.size[1]));
        HIP_CHECK(hipMemcpy2D(pitched, pitch, texels.values.data(), row, row, shape.size[1],
                              hipMemcpyHostToDevice));
        resource.resType = hipResourceTypePitch2D;
        resource.res.pitch2D.devPtr = pitched;
        resource.res.pitch2D.desc = channels;
        resource.res.pitch2D.width = shape.size[0];
        resource.res.pitch2D.height = shape.size[1];
        resource.res.pitch2D.pitchInBytes = pitch;
    } else {
        array = array_make(shape, channels, sizeof(T), texels.values.data());
        if (!array)
            return 0;
        resource.resType = hipResourceTypeArray;
        resource.res.array.array = array;
    }
    for (auto &mode : how.addressMode)
        mode = shape.mode;
    how.filterMode = shape.linear ? hipFilterModeLinear : hipFilterModePoint;
    how.readMode = shape.normalised_value ? hipReadModeNormalizedFloat : hipReadModeElementType;
    how.normalizedCoords = shape.normalised_place;
    hipTextureObject_t object;
    hipError_t status = hipCreateTextureObject(&object, &resource, &how, nullptr);
    size_t wrong = 0;
    // From 5.7 on HIP refuses to filter on gfx90a what has a third extent.
    bool refused = status == hipErrorNotSupported && shape.size[2] > 1 && shape.linear;
    if (!refused) {
        HIP_CHECK(status);
        wrong = compare<T, R, KIND>(texels, object, random);
        HIP_CHECK(hipDestroyTextureObject(object));
    }
    if (array)
        HIP_CHECK(hipFreeArray(array));
    if (pitched)
        HIP_CHECK(hipFree(pitched));
    return wrong;
}

static const hipTextureAddressMode modes[] = {hipAddressModeClamp, hipAddressModeBorder,
                                              hipAddressModeWrap, hipAddressModeMirror};

// Every address mode and filter for one element type and kind. Wrapping wants normalised places.
template <typename T, typename R, int KIND> static size_t all(int width, int height, int depth)
{
    size_t wrong = 0;
    for (hipTextureAddressMode mode : modes) {
        for (int choice = 0; choice < 4; choice++) {
            bool linear = choice & 1, normalised = choice & 2;
            bool repeats = mode == hipAddressModeWrap || mode == hipAddressModeMirror;
            bool floats = typename Element<R>::Component(0.5) != 0;
            bool converted = floats && sizeof(typename Element<T>::Component) < 4;
            if ((linear && !floats) || (repeats && !normalised))
                continue;
            wrong += one_texture<T, R, KIND>(
                {(Kind)KIND, {width, height, depth}, linear, normalised, converted, mode});
        }
    }
    return wrong;
}

__global__ void fetch(hipTextureObject_t texture, float4 *out, int count)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count)
        out[at] = tex1Dfetch<float4>(texture, at);
}

// Linear memory: bytes become shares of 1.
static size_t linear_memory()
{
    const int count = 777;
    std::vector<uchar4> texels(count);
    std::vector<float4> got(count);
    Random random(4711);
    for (auto &texel : texels)
        texel = make_uchar4((unsigned char)random.bits(), (unsigned char)random.bits(),
                            (unsigned char)random.bits(), (unsigned char)random.bits());
    void *memory;
    float4 *out;
    HIP_CHECK(hipMalloc(&memory, count * sizeof(uchar4)));
    HIP_CHECK(hipMalloc((void **)&out, count * sizeof(float4)));
    HIP_CHECK(hipMemcpy(memory, texels.data(), count * sizeof(uchar4), hipMemcpyHostToDevice));
    hipResourceDesc resource = {};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
    resource.res.linear.sizeInBytes = count * sizeof(uchar4);
    hipTextureDesc how = {};
    how.readMode = hipReadModeNormalizedFloat;
    hipTextureObject_t object;
    HIP_CHECK(hipCreateTextureObject(&object, &resource, &how, nullptr));
    fetch<<<(count + 63) / 64, 64>>>(object, out, count);
    HIP_CHECK(hipMemcpy(got.data(), out, count * sizeof(float4), hipMemcpyDeviceToHost));
    HIP_CHECK(hipDestroyTextureObject(object));
    HIP_CHECK(hipFree(memory));
    HIP_CHECK(hipFree(out));
    size_t wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += got[i].x != texels[i].x / 255.0f || got[i].y != texels[i].y / 255.0f ||
                 got[i].z != texels[i].z / 255.0f || got[i].w != texels[i].w / 255.0f;
    return wrong;
}

__global__ void turn(hipSurfaceObject_t in, hipSurfaceObject_t out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float4 value;
    surf2Dread(&value, in, x * (int)sizeof(float4), y);
    value.x += 1;
    surf2Dwrite(value, out, (height - 1 - y) * (int)sizeof(float4), x);
}

// HIP 5.2.3 alone exports these as functions of C++.
static hipError_t surface_create(hipSurfaceObject_t *object, const hipResourceDesc *resource)
{
    typedef hipError_t Create(hipSurfaceObject_t *, const hipResourceDesc *);
    void *found = dlsym(RTLD_DEFAULT, "hipCreateSurfaceObject");
    if (!found)
        found =
            dlsym(RTLD_DEFAULT, "_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc");
    return found ? ((Create *)found)(object, resource) : hipErrorNotFound;
}

static hipError_t surface_destroy(hipSurfaceObject_t object)
{
    typedef hipError_t Destroy(hipSurfaceObject_t);
    void *found = dlsym(RTLD_DEFAULT, "hipDestroySurfaceObject");
    if (!found)
        found = dlsym(RTLD_DEFAULT, "_Z23hipDestroySurfaceObjectP13__hip_surface");
    return found ? ((Destroy *)found)(object) : hipErrorNotFound;
}

// A surface is read, and another one written, turned by 90 degrees.
static size_t surfaces()
{
    const int width = 61, height = 43;
    std::vector<float4> in((size_t)width * height), got(in.size());
    for (size_t i = 0; i < in.size(); i++)
        in[i] = make_float4((float)i, (float)i * 2, -(float)i, 1.0f / (float)(i + 1));
    hipChannelFormatDesc channels = hipCreateChannelDesc<float4>();
    hipArray_t arrays[2];
    hipSurfaceObject_t objects[2];
    for (int n = 0; n < 2; n++) {
        HIP_CHECK(hipMallocArray(&arrays[n], &channels, n ? height : width, n ? width : height,
                                 hipArrayDefault));
        hipResourceDesc resource = {};
        resource.resType = hipResourceTypeArray;
        resource.res.array.array = arrays[n];
        HIP_CHECK(surface_create(&objects[n], &resource));
    }
    size_t row = width * sizeof(float4), turned_row = height * sizeof(float4);
    HIP_CHECK(
        hipMemcpy2DToArray(arrays[0], 0, 0, in.data(), row, row, height, hipMemcpyHostToDevice));
    turn<<<dim3((width + 7) / 8, (height + 7) / 8), dim3(8, 8)>>>(objects[0], objects[1], width,
                                                                  height);
    HIP_CHECK(hipMemcpy2DFromArray(got.data(), turned_row, arrays[1], 0, 0, turned_row, width,
                                   hipMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            float4 want = in[(size_t)y * width + x],
                   value = got[(size_t)x * height + height - 1 - y];
            wrong += value.x != want.x + 1 || value.y != want.y || value.z != want.z ||
                     value.w != want.w;
        }
    }
    for (int n = 0; n < 2; n++) {
        HIP_CHECK(surface_destroy(objects[n]));
        HIP_CHECK(hipFreeArray(arrays[n]));
    }
    return wrong;
}

int main()
{
    size_t wrong = 0;
    wrong += all<float, float, LINE>(301, 1, 1) + all<float, float, PLANE>(57, 43, 1);
    wrong += all<float, float, VOLUME>(19, 13, 11) + all<float, float, LINE_LAYERS>(77, 1, 5);
    wrong += all<float2, float2, PLANE_LAYERS>(33, 27, 4) + all<float4, float4, PLANE>(130, 9, 1);
    wrong += all<float, float, PITCHED>(101, 31, 1) + all<uchar4, float4, PITCHED>(64, 16, 1);
    wrong +=
        all<uchar4, float4, PLANE>(70, 70, 1) + all<unsigned char, unsigned char, PLANE>(300, 5, 1);
    wrong += all<char2, float2, VOLUME>(21, 9, 5) + all<unsigned short, float, PLANE>(40, 90, 1);
    wrong += all<short4, short4, PLANE>(65, 33, 1) + all<int2, int2, LINE>(500, 1, 1);
    wrong +=
        all<unsigned int, unsigned int, VOLUME>(9, 10, 12) + all<short4, float4, LINE>(63, 1, 1);
    wrong += linear_memory() + surfaces();
    return verdict("textures", wrong);
}
