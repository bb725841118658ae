package store

import (
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// noteFull records that a write was refused for lack of space. It ignores nil and other
// errors.
func (s *Store) noteFull(err error) {
	if err != nil && fs.IsNoSpace(err) {
		s.mu.Lock()
		s.full = err
		s.mu.Unlock()
		select {
		case s.fullSignal <- struct{}{}:
		default:
		}
	}
}

// FullSignal returns a channel that receives a value after a write was refused for lack of
// space.
func (s *Store) FullSignal() <-chan struct{} { return s.fullSignal }

// Failure returns nil while the store accepts writes. Otherwise it returns the
// *engine.Unavailable that writes get: the log has failed, the folder was moved, or the
// disk was full at the last attempt to write.
func (s *Store) Failure() error {
	s.log.mu.Lock()
	if s.log.failed != nil {
		defer s.log.mu.Unlock()
		return s.log.notWritten()
	}
	s.log.mu.Unlock()
	if err := s.checkMoved(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// MustReopen reports whether the store accepts no more writes until it is closed and opened
// again.
func (s *Store) MustReopen() bool {
	_, sound := s.log.lastDurable()
	return !sound || s.checkMoved() != nil
}

// Full reports whether a write was refused for lack of space since Retry last succeeded.
func (s *Store) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full != nil
}

// Retry tries to make a spare log file, to find out whether a full disk has space again.
// Call it from time to time while Full reports true.
func (s *Store) Retry() error {
	err := s.log.probeSpace()
	if err == nil {
		s.mu.Lock()
		s.full = nil
		s.mu.Unlock()
	}
	return err
}

// probeSpace makes a spare log file. If there is one already, it makes another and removes it
// again.
func (l *wal) probeSpace() error {
	l.mu.Lock()
	spare := l.spare
	l.mu.Unlock()
	if spare == nil {
		return l.prepare(0)
	}
	l.preparing.Lock()
	defer l.preparing.Unlock()
	probe := &nextFile{temp: filename(l.dir, 0, logExt) + tempExt}
	f, err := createTemp(l.fsys, probe.temp)
	if err != nil {
		return unavailable("the disk of the graph is full", err)
	}
	probe.f = f
	defer probe.discard(l)
	if err := fillZeros(f, l.size); err != nil {
		return unavailable("the disk of the graph is full", err)
	}
	return nil
}
