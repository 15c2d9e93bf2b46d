// Writes, and then ends as its argument says.
#include "trivium.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(const char *name, const char *mode, int number) {
  FILE *file = fopen(name, mode);
  if (!file) {
    perror(name);
    exit(3);
  }
  fprintf(file, "%d\n", number);
  fclose(file);
}

int main(int count, char **args) {
  int me = trivium_node();
  const char *how = count > 1 ? args[1] : "";
  put("new", "wx", 7);
  if (!strcmp(how, "differ") && me != 1) put("same", "w", me);
  if (!strcmp(how, "remove") && me == 0) remove("in.txt");
  if (!strcmp(how, "remove") && me == 2) put("in.txt", "a", me);
  trivium_barrier();
  if (!strcmp(how, "abort") && me == 2) abort();
  if (!strcmp(how, "wrong")) return me == 2;
  while (!strcmp(how, "round")) trivium_barrier();
  static char bytes[1 << 20];
  while (!strcmp(how, "print")) fwrite(bytes, 1, sizeof bytes, stdout);
  for (int i = 0; !strcmp(how, "fill"); i++) {
    sprintf(bytes, "f%d", i / 64);
    FILE *file = fopen(bytes, "a");
    if (!file || fwrite(bytes, 1, sizeof bytes, file) != sizeof bytes || fclose(file)) return 4;
  }
  if (!strcmp(how, "large")) {
    FILE *file = fopen("large", "w");
    return !(fseek(file, 1 << 28, SEEK_SET) == 0 && (fputc(1, file), fclose(file)) != 0);
  }
  if (!strcmp(how, "bytes")) {
    FILE *file = fopen("bytes", "w");
    fwrite(bytes, 1, sizeof bytes, file);
    return fclose(file);
  }
  return 0;
}
