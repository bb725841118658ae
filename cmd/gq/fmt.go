package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// stdinName is the name of standard input unless a flag sets another one.
const stdinName = "stdin.gq"

// fmtCommand makes the command gq fmt.
func fmtCommand() *cobra.Command {
	var f formatter
	cmd := &cobra.Command{
		Use:   "fmt [-l] [-d] [-w] [FILE|DIR…]",
		Short: "Format schemas and queries",
		Long: `Format schemas and queries in the canonical layout.

The arguments are .pg and .gq files, and folders. The command formats such files in
the folders and their subfolders, but skips hidden folders. Without arguments it formats
standard input. Without a flag it writes the result to standard output. It reports a file
that does not parse, leaves that file unchanged, and formats the others.

The exit code is 1 when a file does not parse, and when -l or -d finds a file that is
not formatted and -w is not given.`,
		Example: `  gq fmt -l queries
  gq fmt -w queries schema.pg
  gq fmt --stdin-name schema.pg < schema.pg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.stdout, f.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return f.run(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.list, "list", "l", false, "list the files that are not formatted")
	flags.BoolVarP(&f.diff, "diff", "d", false, "print the changes as unified diffs")
	flags.BoolVarP(&f.write, "write", "w", false, "write the result to the files")
	flags.StringVar(&f.stdinName, "stdin-name", stdinName, "the `NAME` of standard input in messages; its ending, .gq or .pg, selects the language")
	return cmd
}

// formatter runs gq fmt with the values of its flags.
type formatter struct {
	list, diff, write bool   // values of -l, -d and -w
	stdinName         string // name of standard input in messages

	stdout, stderr io.Writer // where run prints texts and faults

	failed  bool // a file could not be read, parsed or written
	differs bool // a layout differs and was not corrected
}

// run runs gq fmt.
func (f *formatter) run(cmd *cobra.Command, args []string) error {
	if err := f.checkUsage(cmd, args); err != nil {
		return &usageError{cmd, err}
	}
	if len(args) == 0 {
		text, err := io.ReadAll(cmd.InOrStdin())
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		f.report(f.format(f.stdinName, string(text)))
	}
	for _, arg := range args {
		f.path(arg)
	}
	if f.failed || f.differs && (f.list || f.diff) {
		return &reportedError{}
	}
	return nil
}

// checkUsage returns an error if the flags and arguments contradict each other.
func (f *formatter) checkUsage(cmd *cobra.Command, args []string) error {
	switch named := cmd.Flags().Changed("stdin-name"); {
	case len(args) > 0 && named:
		return errors.New("--stdin-name names standard input, but gq fmt does not read standard input when files are given; leave out --stdin-name or the files")
	case len(args) > 0:
	case f.write:
		return errors.New("-w cannot write to standard input; name the files to write")
	case !isSource(f.stdinName):
		return fmt.Errorf("--stdin-name is %s; use a name that ends in .gq or .pg", f.stdinName)
	default:
		if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
			return errors.New("nothing to format; name files or folders, or redirect standard input")
		}
	}
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && !info.IsDir() && !isSource(arg) {
			return fmt.Errorf("%s is neither a folder nor a .gq or .pg file; name one of these", arg)
		}
	}
	return nil
}

// path formats a file, or the sources in a folder in the order of their names.
func (f *formatter) path(arg string) {
	err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			f.report(err)
		case d.IsDir() && path != arg && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !d.IsDir() && (path == arg || d.Type().IsRegular() && isSource(path)):
			f.report(f.file(path))
		}
		return nil
	})
	f.report(err)
}

// file formats the file that is at `path`.
func (f *formatter) file(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return f.format(path, string(text))
}

// format formats one text. The flags determine what happens to the result.
func (f *formatter) format(name, text string) error {
	out, faults := gq.Format(gq.Source{Name: name, Text: text})
	if faults != nil {
		if err := diag.Render(f.stderr, faults, map[string]string{name: text}, false); err != nil {
			return err
		}
	}
	if faults.HasErrors() {
		f.failed = true
		return nil
	}
	if !f.list && !f.diff && !f.write {
		_, err := io.WriteString(f.stdout, out)
		return err
	}
	if out == text {
		return nil
	}
	if f.list {
		if _, err := fmt.Fprintln(f.stdout, name); err != nil {
			return err
		}
	}
	if f.diff {
		if _, err := io.WriteString(f.stdout, udiff.Unified(name+".orig", name, text, out)); err != nil {
			return err
		}
	}
	if !f.write {
		f.differs = true
		return nil
	}
	if err := replaceFile(name, out); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// report prints an error that concerns one file, and records that formatting failed.
func (f *formatter) report(err error) {
	if err != nil {
		f.failed = true
		fmt.Fprintf(f.stderr, "gq: %v\n", err)
	}
}

// replaceFile replaces the content of a file atomically: a reader sees either the old or the new
// content. The mode of the file stays, and a symbolic link still points to the file.
func replaceFile(path, text string) (err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	// Renaming needs write permission only for the folder. Open the file for writing to respect its
	// own permissions too.
	old, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".gq-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.WriteString(text)
	err = errors.Join(err, tmp.Chmod(info.Mode()), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// isSource reports whether the path ends in .gq or .pg.
func isSource(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".gq" || ext == ".pg"
}
