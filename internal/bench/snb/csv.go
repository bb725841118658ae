package snb

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// csvTime is the form of an instant in the CSV files.
const csvTime = "2006-01-02T15:04:05.000-0700"

// csvFile is one kind of file: the fields of each line are separated by |, and the first line names
// them. The benchmark's generator divides a kind into parts, whose names end in _0_0.csv, _1_0.csv
// and so on.
type csvFile struct {
	name   string // folder and first part of the file name
	header string
	write  func(n *Network, line func(fields ...any))
	read   func(r *csvReader) error // adds the line whose fields the reader has
}

// WriteCSV writes the network as CSV files into the folders static and dynamic of dir.
func (n *Network) WriteCSV(dir string) error {
	for _, f := range csvFiles {
		if err := n.writeCSVFile(dir, &f); err != nil {
			return err
		}
	}
	return nil
}

// writeCSVFile writes one file.
func (n *Network) writeCSVFile(dir string, f *csvFile) (err error) {
	path := filepath.Join(dir, filepath.FromSlash(f.name)+"_0_0.csv")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriterSize(file, 1<<20)
	line := append([]byte(f.header), '\n')
	f.write(n, func(fields ...any) {
		_, _ = out.Write(line) // out keeps its first error until Flush
		line = line[:0]
		for i, v := range fields {
			if i > 0 {
				line = append(line, '|')
			}
			switch v := v.(type) {
			case string:
				line = append(line, v...)
			case int64:
				line = strconv.AppendInt(line, v, 10)
			case Millis:
				line = v.Time().AppendFormat(line, csvTime)
			case Day:
				line = append(line, v.String()...)
			default:
				panic(fmt.Sprintf("a field of type %T", v))
			}
		}
		line = append(line, '\n')
	})
	_, _ = out.Write(line)
	return out.Flush()
}

// ReadCSV reads a network from the folders static and dynamic of dir. The layout is the one that the
// benchmark's generator calls CsvBasic. Instants may also be numbers of milliseconds.
func ReadCSV(dir string) (*Network, error) {
	r := &csvReader{
		network: &Network{}, persons: map[int64]int{}, forums: map[int64]int{}, messages: map[int64]int{},
		tags: map[int64]int{}, classes: map[int64]int{}, places: map[int64]*Place{}, organisations: map[int64]*Organisation{},
	}
	for i := range csvFiles {
		f := &csvFiles[i]
		paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(f.name)+"_[0-9]*_[0-9]*.csv"))
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("%s has no file %s_0_0.csv; generate the network with the serializer CsvBasic", dir, f.name)
		}
		slices.Sort(paths)
		for _, path := range paths {
			if err := r.readFile(path, f); err != nil {
				return nil, err
			}
		}
	}
	r.finish()
	return r.network, nil
}

// csvReader reads files into a network. Later files refer to the entities of earlier files.
type csvReader struct {
	network *Network
	// The maps give the index of an entity in its slice of the network.
	persons, forums, messages, tags, classes map[int64]int
	places                                   map[int64]*Place
	continents, countries, cities            []int64 // ids of places in the order of the file
	organisations                            map[int64]*Organisation
	universities, companies                  []int64 // ids of organisations in the order of the file

	fields []string // fields of the current line
	err    error    // first fault of a field of the current line
}

// readFile reads one file.
func (r *csvReader) readFile(path string, f *csvFile) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	columns := strings.Count(f.header, "|") + 1
	for number := 1; lines.Scan(); number++ {
		if number == 1 {
			if got := lines.Text(); got != f.header {
				return fmt.Errorf("%s: the first line is %q, expected %q", path, got, f.header)
			}
			continue
		}
		r.fields, r.err = strings.Split(lines.Text(), "|"), nil
		if len(r.fields) != columns {
			return fmt.Errorf("%s, line %d: %d fields, expected %d", path, number, len(r.fields), columns)
		}
		if err := errors.Join(f.read(r), r.err); err != nil {
			return fmt.Errorf("%s, line %d: %w", path, number, err)
		}
	}
	return lines.Err()
}

// fail keeps the first fault of a line.
func (r *csvReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// text returns field i.
func (r *csvReader) text(i int) string { return r.fields[i] }

// number returns field i as an integer.
func (r *csvReader) number(i int) int64 {
	v, err := strconv.ParseInt(r.fields[i], 10, 64)
	if err != nil {
		r.fail("field %d is %q, expected an integer", i+1, r.fields[i])
	}
	return v
}

// millis returns field i as an instant.
func (r *csvReader) millis(i int) Millis {
	if v, err := strconv.ParseInt(r.fields[i], 10, 64); err == nil {
		return Millis(v)
	}
	t, err := time.Parse(csvTime, r.fields[i])
	if err != nil {
		r.fail("field %d is %q, expected an instant such as 2010-02-14T15:32:10.447+0000", i+1, r.fields[i])
	}
	return Millis(t.UnixMilli())
}

// day returns field i as a day.
func (r *csvReader) day(i int) Day {
	if v, err := strconv.ParseInt(r.fields[i], 10, 64); err == nil {
		return Day(Millis(v) / day)
	}
	t, err := time.Parse(time.DateOnly, r.fields[i])
	if err != nil {
		r.fail("field %d is %q, expected a day such as 1989-12-03", i+1, r.fields[i])
	}
	return Day(t.Unix() / 86_400)
}

// find returns the entity with the id in field i.
func find[T any](r *csvReader, i int, index map[int64]int, list []T) *T {
	at, ok := index[r.number(i)]
	if !ok {
		r.fail("field %d is the id %q, which no entity has", i+1, r.fields[i])
		return new(T)
	}
	return &list[at]
}

// person returns the person with the id in field i. forum, message, tag and class do the same for
// entities of these types.
func (r *csvReader) person(i int) *Person   { return find(r, i, r.persons, r.network.Persons) }
func (r *csvReader) forum(i int) *Forum     { return find(r, i, r.forums, r.network.Forums) }
func (r *csvReader) message(i int) *Message { return find(r, i, r.messages, r.network.Messages) }
func (r *csvReader) tag(i int) *Tag         { return find(r, i, r.tags, r.network.Tags) }
func (r *csvReader) class(i int) *TagClass  { return find(r, i, r.classes, r.network.TagClasses) }

// finish moves the places and organisations to the network. Before, their order was open, because
// one file holds all kinds.
func (r *csvReader) finish() {
	n := r.network
	for _, to := range []struct {
		ids  []int64
		list *[]Place
	}{{r.continents, &n.Continents}, {r.countries, &n.Countries}, {r.cities, &n.Cities}} {
		for _, id := range to.ids {
			*to.list = append(*to.list, *r.places[id])
		}
	}
	for _, to := range []struct {
		ids  []int64
		list *[]Organisation
	}{{r.universities, &n.Universities}, {r.companies, &n.Companies}} {
		for _, id := range to.ids {
			*to.list = append(*to.list, *r.organisations[id])
		}
	}
}
