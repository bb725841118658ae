// What a merge brought in: its last commit and who made it, so that the history of a value leads past the actor who merged.

import { get, pathOf, type Commit } from "./api";
import { useLoad } from "./load";
import { href } from "./route";
import { Actor } from "./text";

/** Names the commit that a merge brought in and its author, if the user may see it. It shows nothing for another commit. */
export function Merged(props: { graph: string; commit: { merged_parent_commit_id: string | null } }) {
  const { graph, commit } = props;
  const id = commit.merged_parent_commit_id;
  const merged = useLoad(id && `merged ${graph} ${id}`, (signal) => get<Commit>(pathOf(graph, "/commits/" + encodeURIComponent(id ?? "")), signal));
  return merged.state === "done" && id ? (
    <>
      {" "}
      · merged from <a href={href(graph, "history", [id])}>a commit</a> by <Actor of={merged.value} />
    </>
  ) : null;
}
