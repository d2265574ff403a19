// Large switches: dense with fall-through, sparse over 64 bits, nested in a loop, on characters.
#include "corpus.h"

__device__ unsigned step(unsigned op, unsigned a, unsigned b) {
  switch (op) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a ^ b;
    case 4:
      return a & ~b;
    case 5:
      return a | b;
    case 6:
      a += 3;
    case 7:
      a *= 3;
    case 8:
      a ^= b;
    case 9:
      return a - 1;
    case 10:
      return a << (b & 31);
    case 11:
      return a >> (b & 31);
    case 12:
      return b - a;
    case 13:
      return a * 5 + b;
    case 14:
      return (a ^ b) * 9;
    case 15:
      return a > b ? a : b;
    case 16:
      return a < b ? a : b;
    case 17:
    case 18:
    case 19:
      return a / (op + 1);
    case 20:
      return a % 1000 + b;
    case 21:
      return mix(a) + b;
    case 22:
      return a ^ mix(b);
    case 23:
      return a * a;
    case 24:
      return __popc(a) * b;
    case 25:
      return a / (b | 1);
    case 26:
      return a % (b | 1);
    case 27:
      return a + (b >> 16);
    case 28:
      return (a << 16 | a >> 16) ^ b;
    case 29:
      return a == b ? 1 : a;
    case 30:
      return ~a;
    default:
      return a + op;
  }
}

__device__ int sparse(long long key) {
  switch (key) {
    case -5000000000ll:
      return 1;
    case -77:
      return 2;
    case 0:
      return 3;
    case 1000:
      return 4;
    case 4294967296ll:
      return 5;
    case 4294967297ll:
      return 6;
    case 9000000000000000000ll:
      return 7;
    default:
      return -1;
  }
}

__constant__ long long keys[] = {-5000000000ll,         -77, 0, 1000, 4294967296ll, 4294967297ll,
                                 9000000000000000000ll, 1};

extern "C" __global__ void switches(unsigned* out, int* found, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  unsigned a = i, b = mix(i);
  for (unsigned k = 0; k < 24; ++k) {
    a = step(mix(i * 24 + k) >> 27, a, b);
    b += a >> 5;
  }
  out[i] = a + b;
  found[i] = sparse(keys[i & 7] + (i >> 3) % 2);
}

extern "C" __global__ void scan_text(unsigned* out, const char* text, unsigned length, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  unsigned number = 0, state = 0, sum = 0;
  for (unsigned k = i; k < length; ++k) {
    char c = text[k];
    switch (c) {
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7':
      case '8':
      case '9':
        number = number * 10 + static_cast<unsigned>(c - '0');
        state = 1;
        break;
      case '+':
      case '-':
      case '*':
      case '/':
        sum += state * number;
        number = static_cast<unsigned>(c);
        state = 2;
        break;
      case ' ':
        break;
      case ';':
        sum = sum * 2 + number;
        [[fallthrough]];
      default:
        number = state = 0;
    }
  }
  out[i] = sum + number * 3 + state;
}
