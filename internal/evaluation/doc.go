// Package evaluation measures how well a model can use the tools of a graph. It needs no model, and
// equal input gives an equal report.
//
// It measures four things:
//
//   - The size of the texts that a model reads: the list of tools, the instructions, and an answer of
//     each tool.
//   - Whether a tool is among the first three that BM25 finds by the words of a question, in the names
//     and descriptions of all tools. Authors write the questions, in [Tool].Questions.
//   - Which tools have descriptions with almost the same words.
//   - How many calls it takes to correct a wrong call. The package takes a correct call of each tool,
//     breaks it in ten ways, and corrects it by what the error says.
//
// The repairer imitates a caller that knows what it wants and not how to write it. It sees the text of
// the error, the broken call and the input schema of the tool. It takes a value from the correct call
// only for an argument that the error names.
package evaluation
