// Package tasks gives tasks to an agent that has nothing but the tools of a graph, and scores what it did.
//
// A task is data: the files graphs/*.yaml hold the request, what must be the answer, what must be the state of the graph
// afterwards, and two recorded solutions, a right and a wrong one. The files are templates. Their values are the facts of a
// graph that [Make] generates from a seed, so that no model has seen the answers. No model judges: an answer is compared with
// rows, and a state with the rows of a query.
package tasks
