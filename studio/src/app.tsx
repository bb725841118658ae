// The frame of all pages: the login, the header with the graph and its state, and the page that the
// URL selects.

import type { FunctionComponent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AccessPage } from "./access";
import { get, pathOf } from "./api";
import { CallsPage } from "./calls";
import { ComparePage } from "./compare";
import { DataPage } from "./data";
import { EntityPage } from "./entity";
import { ExplorePage } from "./explore";
import { Faults } from "./faults";
import { GraphsPage } from "./graphs";
import { Me } from "./header";
import { HistoryPage } from "./history";
import { ImportPage } from "./import";
import { useLoad } from "./load";
import { LoginPage, OfferPage } from "./login";
import { loggingIn } from "./oidc";
import { OverviewPage } from "./overview";
import { href, pages, route, target, url, withQuery, go, type Page } from "./route";
import { QueryPage } from "./query";
import { ReviewPage } from "./review";
import { RunPage } from "./run";
import { SchemaPage } from "./schema";
import { loggedOut, offered } from "./session";
import { Text, visible } from "./text";
import { WatchesPage } from "./watches";

const titles: Record<Page, string> = {
  overview: "Overview",
  query: "Query",
  data: "Data",
  import: "Import",
  explore: "Explore",
  entity: "Entity",
  run: "Run",
  review: "Review",
  compare: "Compare",
  history: "History",
  schema: "Schema",
  watches: "Watches",
  calls: "Calls",
  access: "Access",
};

const views: Record<Page, FunctionComponent> = {
  overview: OverviewPage,
  query: QueryPage,
  data: DataPage,
  import: ImportPage,
  explore: ExplorePage,
  review: ReviewPage,
  compare: ComparePage,
  watches: WatchesPage,
  calls: CallsPage,
  run: RunPage,
  entity: EntityPage,
  schema: SchemaPage,
  history: HistoryPage,
  access: AccessPage,
};

export function App() {
  const { graph, page, rest } = route.value;
  const main = useRef<HTMLElement>(null);
  const path = url.value.pathname;
  const first = useRef(path);
  useEffect(() => {
    document.title = [...rest, graph && titles[page], graph, "Omnigraph studio"].filter(Boolean).map((part) => visible(part, 80)).join(" · ");
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (first.current !== path) {
      first.current = path;
      main.current?.focus(); // so that the keyboard and screen readers start at the new page
    }
  }, [path]);
  if (loggingIn.value) {
    return (
      <main id="main" class="login">
        <h1>Omnigraph studio</h1>
        <p class="loading" role="status">
          Logging in…
        </p>
      </main>
    );
  }
  if (loggedOut.value !== null) {
    return <LoginPage reason={loggedOut.value} />;
  }
  if (offered.value !== null) {
    return <OfferPage text={offered.value} />;
  }
  const View = graph ? views[page] : GraphsPage;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the page
      </a>
      <header>
        <a class="home" href={href("", "", [], { branch: "", at: "" })}>
          Omnigraph
        </a>
        {graph && (
          <>
            <a class="graph" href={href(graph, "")}>
              <Text value={graph} plain />
            </a>
            <nav aria-label="Pages">
              {pages.map((p) => (
                <a key={p} href={href(graph, p)} aria-current={p === page ? "page" : undefined}>
                  {titles[p]}
                </a>
              ))}
            </nav>
            <Target key={graph} graph={graph} />
          </>
        )}
        <Me graph={graph} />
      </header>
      <Faults />
      <main id="main" ref={main} tabIndex={-1}>
        <View key={graph} />
      </main>
    </>
  );
}

// Shows the branch or the commit that the pages are about, and lets the user choose another branch.
function Target(props: { graph: string }) {
  const { branch, at } = target.value;
  const branches = useLoad("branches " + props.graph, (signal) =>
    get<{ branches: string[] }>(pathOf(props.graph, "/branches", { limit: 200 }), signal),
  );
  const names = branches.state === "done" ? branches.value.branches : [];
  const chosen = branch || "main";
  if (at) {
    return (
      <div class="target">
        <span>
          at commit <code><Text value={at} most={80} plain /></code>
        </span>
        <a href={withQuery({ at: undefined })}>Back to the branch</a>
      </div>
    );
  }
  return (
    <label class="target">
      Branch
      <select value={chosen} onChange={(event) => go(withQuery({ branch: event.currentTarget.value, page: undefined, before: undefined }))}>
        {[...new Set([chosen, ...names])].sort().map((name) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
