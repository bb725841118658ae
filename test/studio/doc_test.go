// Package studio drives every page of the studio in Chromium, on servers that it builds and starts
// as processes: one of the graph code of this repository, one of a module that gq init made, and one
// of graphs with unusual contents. The tests skip if Chromium is not installed. They are a module of
// their own, so that the server does not depend on the driver of the browser.
package studio
