// Lists in the heap of malloc(): each thread builds one, adds it up and frees it; `keep` leaves blocks to the next launch.
struct Node {
  Node* next;
  int value;
};

extern "C" __global__ void lists(int* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Node* head = nullptr;
  for (int k = 0; k <= i % 7; ++k) {
    Node* node = new Node{head, k * i};
    head = node;
  }
  int sum = 0;
  while (head != nullptr) {
    sum += head->value;
    Node* next = head->next;
    delete head;
    head = next;
  }
  sums[i] = sum;
}

// Until the heap is full: how many blocks of 1 KiB a thread gets.
extern "C" __global__ void fill(int* blocks) {
  int count = 0;
  while (malloc(1024) != nullptr) ++count;
  blocks[threadIdx.x] = count;
}

extern "C" __global__ void keep(int** place) {
  place[threadIdx.x] = (int*)malloc(64);
  *place[threadIdx.x] = threadIdx.x * 3;
}
extern "C" __global__ void use(int** place, int* values) {
  values[threadIdx.x] = *place[threadIdx.x];
  free(place[threadIdx.x]);
}
