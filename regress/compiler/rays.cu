// Rays and pictures: spheres, triangles, boxes, volumes, distances, rasters.

struct Vec {
  float x, y, z;
};

__device__ __forceinline__ Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Vec operator*(Vec a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ Vec cross(Vec a, Vec b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ __forceinline__ Vec unit(Vec a) { return a * rsqrtf(dot(a, a)); }

struct Sphere {
  Vec centre;
  float radius;
  Vec colour;
  float mirror;
};

__device__ float hit(const Sphere& s, Vec origin, Vec direction) {
  const Vec to = s.centre - origin;
  const float along = dot(to, direction), closest = dot(to, to) - along * along, square = s.radius * s.radius;
  if (closest > square) return -1.f;
  const float half = sqrtf(square - closest);
  return along - half > 1e-4f ? along - half : along + half;
}

extern "C" __global__ void trace_spheres(const Sphere* spheres, int count, uchar4* image, int width,
                                         int height, Vec eye, Vec light, int bounces) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  Vec origin = eye, direction = unit(Vec{(px - 0.5f * width) / height, (py - 0.5f * height) / height, 1.f});
  Vec colour{0.f, 0.f, 0.f};
  float share = 1.f;
  for (int b = 0; b <= bounces; ++b) {
    float nearest = 1e30f;
    int which = -1;
    for (int i = 0; i < count; ++i) {
      const float t = hit(spheres[i], origin, direction);
      if (t > 1e-4f && t < nearest) {
        nearest = t;
        which = i;
      }
    }
    if (which < 0) {
      const float sky = 0.5f * (direction.y + 1.f);
      colour = colour + Vec{0.5f, 0.7f, 1.f} * (share * sky);
      break;
    }
    const Sphere s = spheres[which];
    const Vec point = origin + direction * nearest, normal = unit(point - s.centre),
              to_light = unit(light - point);
    bool shadow = false;
    for (int i = 0; i < count && !shadow; ++i)
      shadow = i != which && hit(spheres[i], point, to_light) > 1e-3f;
    const float diffuse = shadow ? 0.1f : fmaxf(dot(normal, to_light), 0.1f);
    colour = colour + s.colour * (share * (1.f - s.mirror) * diffuse);
    share *= s.mirror;
    if (share < 0.01f) break;
    origin = point;
    direction = direction - normal * (2.f * dot(direction, normal));
  }
  image[py * width + px] = make_uchar4(255.f * __saturatef(colour.x), 255.f * __saturatef(colour.y),
                                       255.f * __saturatef(colour.z), 255);
}

// Moeller and Trumbore.
extern "C" __global__ void hit_triangles(const Vec* vertices, const int3* faces, int triangles,
                                         const Vec* origins, const Vec* directions, float* distance,
                                         int* face, int rays) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rays) return;
  const Vec o = origins[r], d = directions[r];
  float nearest = 1e30f;
  int found = -1;
  for (int i = 0; i < triangles; ++i) {
    const int3 f = faces[i];
    const Vec a = vertices[f.x], e1 = vertices[f.y] - a, e2 = vertices[f.z] - a;
    const Vec p = cross(d, e2);
    const float det = dot(e1, p);
    if (fabsf(det) < 1e-9f) continue;
    const float inverse = 1.f / det;
    const Vec t = o - a;
    const float u = dot(t, p) * inverse;
    if (u < 0.f || u > 1.f) continue;
    const Vec q = cross(t, e1);
    const float v = dot(d, q) * inverse;
    if (v < 0.f || u + v > 1.f) continue;
    const float at = dot(e2, q) * inverse;
    if (at > 1e-5f && at < nearest) {
      nearest = at;
      found = i;
    }
  }
  distance[r] = nearest;
  face[r] = found;
}

// A tree of boxes with a stack in local memory.
extern "C" __global__ void walk_boxes(const float4* low, const float4* high, const Vec* origins,
                                      const Vec* directions, int* leaf, int rays) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rays) return;
  const Vec o = origins[r], d = directions[r];
  const float ix = 1.f / d.x, iy = 1.f / d.y, iz = 1.f / d.z;
  int stack[32], top = 0, result = -1;
  float nearest = 1e30f;
  stack[top++] = 0;
  while (top > 0) {
    const int node = stack[--top];
    const float4 l = low[node], h = high[node];
    const float x0 = (l.x - o.x) * ix, x1 = (h.x - o.x) * ix, y0 = (l.y - o.y) * iy, y1 = (h.y - o.y) * iy,
                z0 = (l.z - o.z) * iz, z1 = (h.z - o.z) * iz;
    const float enter = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.f));
    const float leave = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fmaxf(z0, z1));
    if (enter > leave || enter >= nearest) continue;
    const int child = __float_as_int(l.w), count = __float_as_int(h.w);
    if (count > 0) {
      nearest = enter;
      result = child;
    } else if (top < 31) {
      stack[top++] = child;
      stack[top++] = child + 1;
    }
  }
  leaf[r] = result;
}

extern "C" __global__ void volume_march(const unsigned char* volume, float4* image, int size, int width,
                                        int height, float step, float density, float threshold) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const Vec d = unit(Vec{(x + 0.5f) / width - 0.5f, (y + 0.5f) / height - 0.5f, 1.5f});
  float r = 0.f, g = 0.f, b = 0.f, alpha = 0.f;
  for (float t = 0.f; t < 3.f && alpha < threshold; t += step) {
    const Vec p = Vec{0.5f, 0.5f, -1.f} + d * t;
    if (p.x < 0.f || p.y < 0.f || p.z < 0.f || p.x >= 1.f || p.y >= 1.f || p.z >= 1.f) continue;
    const int at = ((int)(p.z * size) * size + (int)(p.y * size)) * size + (int)(p.x * size);
    const float v = volume[at] * (1.f / 255.f), a = v * density * (1.f - alpha);
    r += a * v;
    g += a * (1.f - v);
    b += a * 0.3f;
    alpha += a;
  }
  image[y * width + x] = make_float4(r, g, b, alpha);
}

__device__ float scene_distance(Vec p) {
  const float sphere = sqrtf(dot(p, p)) - 1.f;
  const float qx = fabsf(p.x - 2.f) - 0.7f, qy = fabsf(p.y) - 0.7f, qz = fabsf(p.z) - 0.7f;
  const float ox = fmaxf(qx, 0.f), oy = fmaxf(qy, 0.f), oz = fmaxf(qz, 0.f);
  const float box = sqrtf(ox * ox + oy * oy + oz * oz) + fminf(fmaxf(qx, fmaxf(qy, qz)), 0.f);
  const float h = fmaxf(0.3f - fabsf(sphere - box), 0.f) / 0.3f;
  return fminf(fminf(sphere, box) - h * h * 0.075f, p.y + 1.f);
}

extern "C" __global__ void sphere_trace(float4* image, int width, int height, float time) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float turn = __sinf(time), turned = __cosf(time);
  const float u = (2.f * x - width) / height, v = (2.f * y - height) / height;
  const Vec o{5.f * turn, 1.5f, -5.f * turned};
  const Vec d = unit(Vec{u * turned - 2.f * turn, v, u * turn + 2.f * turned});
  float t = 0.f;
  int i = 0;
  for (; i < 96; ++i) {
    const float distance = scene_distance(o + d * t);
    if (distance < 1e-3f * t || t > 40.f) break;
    t += distance;
  }
  float shade = 0.f;
  if (t < 40.f) {
    const Vec p = o + d * t;
    const float e = 1e-3f, base = scene_distance(p);
    const Vec n = unit(Vec{scene_distance(p + Vec{e, 0, 0}) - base, scene_distance(p + Vec{0, e, 0}) - base,
                           scene_distance(p + Vec{0, 0, e}) - base});
    shade = fmaxf(0.f, dot(n, Vec{0.57735f, 0.57735f, -0.57735f}));
  }
  image[y * width + x] = make_float4(shade, shade * 0.9f, shade * 0.8f, i / 96.f);
}

extern "C" __global__ void rasterise(const float4* vertices, const int3* faces,
                                     unsigned long long* depth_face, int count, int width, int height) {
  const int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f >= count) return;
  const int3 face = faces[f];
  const float4 a = vertices[face.x], b = vertices[face.y], c = vertices[face.z];
  const float area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  if (area <= 0.f) return;
  const int x0 = max((int)floorf(fminf(a.x, fminf(b.x, c.x))), 0),
            x1 = min((int)ceilf(fmaxf(a.x, fmaxf(b.x, c.x))), width - 1);
  const int y0 = max((int)floorf(fminf(a.y, fminf(b.y, c.y))), 0),
            y1 = min((int)ceilf(fmaxf(a.y, fmaxf(b.y, c.y))), height - 1);
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      const float px = x + 0.5f, py = y + 0.5f;
      const float w0 = (c.x - b.x) * (py - b.y) - (c.y - b.y) * (px - b.x),
                  w1 = (a.x - c.x) * (py - c.y) - (a.y - c.y) * (px - c.x);
      const float w2 = area - w0 - w1;
      if (w0 < 0.f || w1 < 0.f || w2 < 0.f) continue;
      const float z = (w0 * a.z + w1 * b.z + w2 * c.z) / area;
      atomicMin(&depth_face[y * width + x], (unsigned long long)__float_as_uint(z) << 32 | f);
    }
}
