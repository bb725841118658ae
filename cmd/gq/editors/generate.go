// Package editors holds the settings of editors for .gq and .pg files: an extension of VS Code, and files
// for Neovim and Helix. The grammars below it are generated.
package editors

//go:generate go run ./highlighting
