// The buttons above the canvas of Explore.

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import type { Canvas } from "./canvas";
import { save } from "./table";
import type { SceneState } from "./scenestate";

export function SceneTools(props: { state: SceneState; canvas: RefObject<Canvas | null>; busy: boolean; onFind: (words: string) => void; onClear: () => void }) {
  const { state, canvas, busy, onFind, onClear } = props;
  const [words, setWords] = useState("");
  const [copied, setCopied] = useState("");
  const button = (text: string, onClick: () => void, disabled = false, title?: string) => (
    <button type="button" class="quiet" aria-label={text.length === 1 ? title : undefined} title={title} disabled={disabled} onClick={onClick}>
      {text}
    </button>
  );
  const png = async () => {
    const picture = await canvas.current?.png();
    if (picture) {
      save("scene.png", picture);
    }
  };
  const copy = () =>
    navigator.clipboard.writeText(location.href).then(
      () => setCopied("Copied"),
      () => setCopied("Copy the address of the page"),
    );
  return (
    <div class="scene-tools row" role="toolbar" aria-label="The scene">
      {button("Undo", state.undo, state.past.length === 0 || busy)}
      {button("Redo", state.redo, state.future.length === 0 || busy)}
      {button("+", () => canvas.current?.zoom(1.4), false, "Zoom in")}
      {button("−", () => canvas.current?.zoom(1 / 1.4), false, "Zoom out")}
      {button("Fit", () => canvas.current?.fit(), false, "Show the whole scene")}
      {button("Arrange", () => canvas.current?.arrange(), false, "Arrange the nodes again")}
      {button("Save as PNG", () => void png())}
      {button(copied || "Copy link", () => void copy())}
      {button("Clear", onClear)}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          onFind(words.trim());
        }}
      >
        <input type="search" aria-label="Find in the scene" placeholder="Find in the scene" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        <button type="submit" class="quiet">
          Find
        </button>
      </form>
    </div>
  );
}
