package simulation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// keys are the names of the lists.
var keys = []string{"a", "b", "c"}

// machine is the sharedlog.State of the simulation: a few lists of tokens, as rows. The order of the
// rows is the layout.
type machine struct {
	rows []row  // the lists
	lsn  uint64 // of the last record
	time int64  // of the last record

	bucket  object.Bucket // holds the segments
	segment uint64        // number of the segment with the rows of the last checkpoint that was loaded or made; 0 if none
	content []byte        // of that segment
	covered uint64        // the last log object that this checkpoint covers
}

// row is one list.
type row struct {
	Key    string // name of the list
	Tokens []int  // the elements of the list, in the order of the writes
}

// Reset implements sharedlog.State.
func (m *machine) Reset() {
	*m = machine{bucket: m.bucket}
	for _, key := range keys {
		m.rows = append(m.rows, row{Key: key})
	}
}

// stored is the content of a segment.
type stored struct {
	Rows []row  // the lists
	LSN  uint64 // of the last record
	Time int64  // of the last record
}

// Load implements sharedlog.State. A checkpoint contains only the number of a segment.
func (m *machine) Load(checkpoint []byte, covered uint64) error {
	number, err := strconv.ParseUint(string(checkpoint), 10, 64)
	if err != nil {
		return err
	}
	content, err := m.bucket.Read(background, sharedlog.SegmentName(number), 0, object.Whole)
	if err != nil {
		return fmt.Errorf("%w: segment %d: %w", sharedlog.ErrUnavailable, number, err)
	}
	var s stored
	if err := json.Unmarshal(content, &s); err != nil {
		return err
	}
	*m = machine{rows: s.Rows, lsn: s.LSN, time: s.Time, bucket: m.bucket, segment: number, content: content, covered: covered}
	return nil
}

// encode returns the content of a segment with the rows of the machine.
func (m *machine) encode() []byte {
	b, err := json.Marshal(stored{Rows: m.rows, LSN: m.lsn, Time: m.time})
	if err != nil {
		panic(err) // JSON can encode every value of this type
	}
	return b
}

// rewritten returns the content of a segment with the rows in another order.
func (m *machine) rewritten(rng *rand.Rand) []byte {
	other := *m
	n := 1 + rng.IntN(len(m.rows)-1)
	other.rows = slices.Concat(m.rows[n:], m.rows[:n])
	return other.encode()
}

// Apply implements sharedlog.State. A record is "key TOKEN KEY" or "row TOKEN ORDINAL". The second
// form is valid only with the layout for which it was written.
func (m *machine) Apply(r sharedlog.Record) error {
	if r.LSN != m.lsn+1 || r.Time < m.time {
		return fmt.Errorf("record %d of time %d follows record %d of time %d", r.LSN, r.Time, m.lsn, m.time)
	}
	m.lsn, m.time = r.LSN, r.Time
	form, rest, _ := strings.Cut(string(r.Data), " ")
	text, place, _ := strings.Cut(rest, " ")
	token, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(m.rows, func(r row) bool { return r.Key == place })
	if form == "row" {
		if i, err = strconv.Atoi(place); err != nil {
			return err
		}
	}
	// Copy the list, because a staged machine shares it.
	m.rows[i].Tokens = append(slices.Clip(m.rows[i].Tokens), token)
	return nil
}

// staged returns a copy on which a writer tries records before they are stored.
func (m *machine) staged() *machine {
	other := *m
	other.rows = slices.Clone(m.rows)
	return &other
}

// list returns the tokens of a list.
func (m *machine) list(key string) []int {
	return m.rows[m.ordinal(key)].Tokens
}

// ordinal returns the place of a list in the layout.
func (m *machine) ordinal(key string) int {
	return slices.IndexFunc(m.rows, func(r row) bool { return r.Key == key })
}

// has reports whether a token was appended to any list. Tokens are idempotency keys.
func (m *machine) has(token int) bool {
	return slices.ContainsFunc(m.rows, func(r row) bool { return slices.Contains(r.Tokens, token) })
}

// record returns the record that appends a token to a list.
func (m *machine) record(key string, token int, byOrdinal bool) []byte {
	if byOrdinal {
		return fmt.Appendf(nil, "row %d %d", token, m.ordinal(key))
	}
	return fmt.Appendf(nil, "key %d %s", token, key)
}
