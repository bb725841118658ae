package sharedlog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// The errors of a Follower and a Writer. Test for them with errors.Is.
var (
	// ErrLost reports that this server is no longer the writer, because another server has taken
	// over. No stored data is lost, but this Writer has ended, and the call has written nothing. Drop
	// all commits that are staged on the Writer and open the log again.
	ErrLost = errors.New("another server has become the writer of this graph; nothing was written")

	// ErrBehind reports that some log objects were collected before the Follower read them. The
	// call has written nothing, or only a void takeover. Open the log again.
	ErrBehind = errors.New("the log has moved on past what this server has read; open the log again")

	// ErrIndeterminate reports that the storage stayed unreachable, so that the records may or may not
	// be stored. The Writer has ended. Open the log again to find out.
	ErrIndeterminate = errors.New("the storage stayed unreachable, so it is unknown whether the write is stored")

	// ErrUnavailable reports that the storage stayed unreachable or busy. The call has written nothing.
	ErrUnavailable = errors.New("the storage is unreachable or busy; nothing was written")
)

// CorruptError reports stored bytes that break the format or the rules of the log.
type CorruptError struct {
	Name  string // of the object, without the prefix of the graph
	Fault string // what is wrong with the object
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("the shared log is corrupt: object %s: %s", e.Name, e.Fault)
}

// NewerError reports an object that a newer version of the program wrote, in a format that this version cannot read.
type NewerError struct {
	Name   string // of the object, without the prefix of the graph
	Format uint32 // format number of the object
	Newest uint32 // newest format number that this version reads
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("object %s was written by a newer version of this program: its format is %d, and this program reads format %d; use a newer program",
		e.Name, e.Format, e.Newest)
}

// checkFormat returns an error unless the program can read the format of an object: a *NewerError, or a *CorruptError.
func checkFormat(name string, number uint32) error {
	switch {
	case number > format:
		return &NewerError{Name: name, Format: number, Newest: format}
	case number < format:
		return &CorruptError{Name: name, Fault: fmt.Sprintf("no object has format %d", number)}
	}
	return nil
}

// State is the result of applying the records of a log. The package calls its methods one at a
// time. After a method has returned an error, the Follower cannot be used any more.
type State interface {
	// Reset sets the state to the one before the first record.
	Reset()

	// Load replaces the state by the state in a checkpoint, which covers the log objects up to the
	// number `covered`.
	Load(checkpoint []byte, covered uint64) error

	// Apply applies one record.
	Apply(r Record) error
}

// Record is one record of the log.
type Record struct {
	LSN  uint64 // the dense number of the record, from 1
	Time int64  // of its commit, in milliseconds since 1970; never before that of an earlier record
	Data []byte // must not be changed
}

// Options are what a Follower needs. Bucket and State are required.
type Options struct {
	Bucket object.Bucket // the storage of the log
	Prefix string        // of all names of this incarnation of the graph; ends with "/", or is empty
	State  State         // receives the records

	// Node, Incarnation and Address identify this server in takeover objects, for operators.
	Node, Incarnation, Address string

	// Reload, if set, is called at the announcement of a checkpoint with the same layout. If it returns
	// true, the State loads the checkpoint, for example to free the memory of the records before it. The
	// State then also applies the records between the checkpoint and the announcement again.
	Reload func() bool

	// LeastEpoch is the least epoch that a takeover by this server begins. 0 means the epoch after that
	// of the last writer.
	LeastEpoch uint64

	// Patience is how long a call repeats requests that the storage does not answer. The default is
	// 30 s.
	Patience time.Duration

	// Recheck is how old the last list of checkpoints may be when Next returns false at the end of
	// the log. The default is one minute.
	Recheck time.Duration

	// RollUp is the number of log objects after which a Writer makes a roll-up of them. The default is 64.
	RollUp int

	// Retention is how long condemned objects stay. The default is 24 hours; a negative value means
	// that they may be deleted at once.
	Retention time.Duration

	Now    func() time.Time                           // nil means clock.Now
	Sleep  func(ctx context.Context, d time.Duration) // returns early when the context ends; nil means a timer
	Random io.Reader                                  // for ids and pauses; nil means crypto/rand.Reader
	Faults Faults                                     // for tests only
}

// DefaultRetention is 24 hours.
const DefaultRetention = 24 * time.Hour

// defaultRollUp is the default of Options.RollUp.
const defaultRollUp = 64

// Faults leaves out single steps of the protocol, so that a test can show that the simulation notices
// their absence. Everywhere else it is the zero value, which leaves out nothing.
type Faults struct {
	IgnoreEpoch      bool // a writer whose number was taken does not compare epochs, and goes on at the next number
	CollectTakeovers bool // the collector also deletes takeover objects, so that their numbers are free again
	AcknowledgeEarly bool // the writer acknowledges a group when the reply is lost, before it knows that the object exists
	GuessLayout      bool // a follower adopts the number of an announced layout without loading the checkpoint
	SkipSecondLook   bool // a candidate does not list the checkpoints after it created its takeover object
	IgnorePins       bool // the collector also deletes condemned segments that a server needs
	RollUpEarly      bool // the writer puts a log object into a roll-up before it knows that the object exists
	EarlyOrphans     bool // the writer takes segments of its own epoch, which it has not named yet, for orphans
	SkipReaderLook   bool // a follower applies takeovers and skips void objects without a list of the checkpoints
	TrustMissing     bool // a follower takes a missing log object for the end of the log without a list of the checkpoints
}

// withDefaults returns the options, with defaults in the fields that are not set.
func (o Options) withDefaults() Options {
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	if o.Recheck == 0 {
		o.Recheck = time.Minute
	}
	if o.RollUp == 0 {
		o.RollUp = defaultRollUp
	}
	if o.Retention == 0 {
		o.Retention = DefaultRetention
	}
	if o.Now == nil {
		o.Now = clock.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	return o
}

// sleep waits for d or until the context ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
