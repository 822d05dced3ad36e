/**
 * For the tests' own processes: glibc keeps the 32 MB that hashing a password takes, instead of asking the kernel for them each
 * time, which took a third of the time of tests that sign in often. The servers that tests start do without.
 * https://sourceware.org/glibc/manual/latest/html_node/Malloc-Tunable-Parameters.html
 */
export const KEPT_MEMORY = {
  MALLOC_MMAP_THRESHOLD_: String(2 ** 30),
  MALLOC_TRIM_THRESHOLD_: String(2 ** 30),
  MALLOC_TOP_PAD_: String(2 ** 26),
};
