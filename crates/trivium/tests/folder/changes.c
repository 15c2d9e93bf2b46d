// Every call of the C library by which a program changes a folder; what it says is the line of what went wrong.
#include <stdio.h>
#include <errno.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <dirent.h>
#include <sys/stat.h>
#include "trivium.h"
#define CHECK(x) do { if (!(x)) { printf("line %d: %s: %s\n", __LINE__, #x, strerror(errno)); return 1; } } while (0)
int main(void) {
  int me = trivium_node(); char name[40], line[80]; FILE *f; struct stat s;
  sprintf(name, "out%d.txt", me);
  CHECK(f = fopen(name, "w")); fprintf(f, "node %d of %d\n", me, trivium_nodes()); CHECK(!fclose(f));
  CHECK(f = fopen(name, "a+")); fprintf(f, "more\n"); rewind(f); CHECK(fgets(line, 80, f)); CHECK(fgets(line,80,f)); CHECK(!strcmp(line, "more\n")); fclose(f);
  CHECK(f = fopen("in.txt", "r+")); fputs("ONE", f); fseek(f, 0, SEEK_END); fputs("three\n", f); CHECK(!fclose(f));
  CHECK(!stat("in.txt", &s)); CHECK(s.st_size == 14);
  CHECK(!mkdir("made", 0777)); CHECK(mkdir("made", 0777) && errno == EEXIST);
  CHECK(!rename("old.txt", "made/new.txt")); CHECK(!fopen("old.txt", "r") && errno == ENOENT);
  CHECK(!remove("gone.txt"));
  CHECK(rmdir("deep") && errno == ENOTEMPTY);
  CHECK(!rename("deep", "made/deeper")); CHECK(f = fopen("made/deeper/x", "r")); fclose(f);
  CHECK(!truncate("made/deeper/x", 2));
  int d = open("tmp", O_RDWR|O_CREAT|O_EXCL, 0600); CHECK(d >= 0); CHECK(pwrite(d, "abc", 3, 2) == 3); CHECK(pread(d, line, 5, 0) == 5 && line[0] == 0 && line[4] == 'c');
  CHECK(!ftruncate(d, 3)); CHECK(lseek(d, 0, SEEK_END) == 3); CHECK(!fsync(d)); CHECK(!unlink("tmp")); CHECK(read(d, line, 9) == 0); close(d);
  CHECK(open("tmp", O_RDONLY) < 0); CHECK(open("in.txt", O_CREAT|O_EXCL|O_WRONLY, 0600) < 0 && errno == EEXIST);
  CHECK(open("../x", O_CREAT|O_WRONLY, 0600) < 0); CHECK(open("out", O_WRONLY) < 0);
  CHECK(rename("in.txt", "new/") && errno == ENOTDIR); CHECK(!fopen("new/", "w") && errno == EISDIR);
  DIR *all = opendir("."); struct dirent *one; while ((one = readdir(all))) if (me == 0) printf("%s ", one->d_name); closedir(all);
  if (me == 0) puts("");
  return 0;
}
