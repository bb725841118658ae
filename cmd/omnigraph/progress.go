package main

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows the stages of work on a terminal. On other outputs it shows nothing.
type progress struct {
	w     io.Writer
	tty   bool                     // whether w is a terminal
	stage string                   // name of the stage that bar shows
	bar   *progressbar.ProgressBar // the bar on the terminal
}

// newProgress returns a progress that writes to w.
func newProgress(w io.Writer) *progress { return &progress{w: w, tty: isTerminal(w)} }

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// show displays the progress of a stage. `total` is 0 if the amount of work is unknown.
func (p *progress) show(stage string, done, total int) {
	if !p.tty {
		return
	}
	if stage != p.stage {
		p.done()
		if total == 0 {
			total = -1
		}
		p.stage = stage
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(stage),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionSpinnerType(14))
	}
	_ = p.bar.Set(done)
}

// done clears the progress line.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar, p.stage = nil, ""
	}
}
