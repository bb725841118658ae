package record

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestColumnar reads files that pandas, DuckDB and pyarrow wrote.
func TestColumnar(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"pandas.parquet", "pandas.feather", "duckdb.parquet", "stream.arrows", "stream.arrows.gz"} {
		fmt.Fprintf(&b, "== %s\n%s", name, strings.ReplaceAll(dump(File{Name: name, Path: filepath.Join("testdata", name)}, Options{}), " ", "\n  "))
	}
	fmt.Fprintf(&b, "== some columns\n%s", dump(File{Name: "pandas.parquet", Path: "testdata/pandas.parquet"}, Options{}, "o.b.c", "i"))
	fmt.Fprintf(&b, "== some columns\n%s", dump(File{Name: "stream.arrows", Path: "testdata/stream.arrows"}, Options{}, "dict", "n"))
	golden.Check(t, "testdata/columnar.golden", []byte(b.String()))
}

func TestColumnarCounts(t *testing.T) {
	for _, name := range []string{"pandas.parquet", "stream.arrows"} {
		read := 0
		dump(File{Name: name, Path: filepath.Join("testdata", name)}, Options{Count: func(n int) { read += n }})
		if read == 0 {
			t.Errorf("%s: no bytes were counted", name)
		}
	}
}

// TestDamagedColumnar reads files that are cut, and such with one changed byte. Each must end with a fault or with records.
func TestDamagedColumnar(t *testing.T) {
	for _, name := range []string{"pandas.parquet", "duckdb.parquet", "pandas.feather", "stream.arrows"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(file(t, name, whole[:len(whole)/2]), Options{}); !strings.Contains(got, name) {
			t.Errorf("%s, cut: %s", name, got)
		}
		for at := 0; at < len(whole); at += 97 {
			damaged := append([]byte(nil), whole...)
			damaged[at] ^= 0x55
			dump(file(t, name, damaged), Options{})
		}
	}
}

// TestDamagedCounts puts large numbers at each place of files of Arrow. The library allocates as much as some of them say.
func TestDamagedCounts(t *testing.T) {
	slow.Test(t)
	for _, name := range []string{"pandas.feather", "stream.arrows"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		refused, f := 0, file(t, name, nil)
		for at := 0; at+4 <= len(whole); at += 4 {
			for _, n := range []uint32{1 << 28, 1<<31 - 1} {
				damaged := slices.Clone(whole)
				binary.LittleEndian.PutUint32(damaged[at:], n)
				if err := os.WriteFile(f.Path, damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(dump(f, Options{}), "damaged: a list of") {
					refused++
				}
			}
		}
		if refused == 0 {
			t.Errorf("%s: no list is too long", name)
		}
	}
}

// FuzzColumnar checks that a damaged file of Parquet or Arrow ends with a fault or with records.
func FuzzColumnar(f *testing.F) {
	formats := []string{Parquet, Arrow}
	for _, name := range []string{"duckdb.parquet", "pandas.parquet", "pandas.feather", "stream.arrows"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(FormatOf(name) == Arrow, whole)
		f.Add(FormatOf(name) != Arrow, whole) // a file with the extension of the other format
		if FormatOf(name) == Arrow {
			for _, at := range []int{64, 128, 256, len(whole) - 256} { // counts are near
				damaged := slices.Clone(whole)
				binary.LittleEndian.PutUint32(damaged[at:], 1<<28)
				f.Add(true, damaged)
			}
		}
	}
	f.Fuzz(func(t *testing.T, arrow bool, content []byte) {
		format := formats[0]
		if arrow {
			format = formats[1]
		}
		dump(file(t, "a", content), Options{Format: format})
	})
}
