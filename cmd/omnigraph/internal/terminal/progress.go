// Package terminal shows the progress of work, and the faults of files, on a terminal.
package terminal

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows the stages of work on a terminal. On other outputs it shows nothing.
type Progress struct {
	w     io.Writer
	tty   bool                     // whether w is a terminal
	stage string                   // name of the stage that bar shows
	bar   *progressbar.ProgressBar // the bar on the terminal
}

// NewProgress returns a Progress that writes to w.
func NewProgress(w io.Writer) *Progress { return &Progress{w: w, tty: Is(w)} }

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// IsInput reports whether r is a terminal.
func IsInput(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Show displays the progress of a stage. `total` is 0 if the amount of work is unknown.
func (p *Progress) Show(stage string, done, total int) {
	p.show(stage, int64(done), int64(total), progressbar.OptionShowCount())
}

// ShowBytes is like Show for bytes. It also displays how many there are in a second and, if the total is known, the percentage and the
// remaining time.
func (p *Progress) ShowBytes(stage string, done, total int64) {
	p.show(stage, done, total, progressbar.OptionShowBytes(true))
}

// show displays the progress of a stage on a bar with some options.
func (p *Progress) show(stage string, done, total int64, options ...progressbar.Option) {
	if !p.tty {
		return
	}
	if stage != p.stage {
		p.Done()
		if total == 0 {
			total = -1
		}
		p.stage = stage
		p.bar = progressbar.NewOptions64(total, append(options, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(stage),
			progressbar.OptionClearOnFinish(), progressbar.OptionSpinnerType(14), progressbar.OptionThrottle(50*time.Millisecond))...)
	}
	_ = p.bar.Set64(done)
}

// Done clears the progress line.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar, p.stage = nil, ""
	}
}
