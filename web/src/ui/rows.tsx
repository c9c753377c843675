// A list whose rows are in the page only while they can be seen, from a hundred rows on.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { store } from "../lib/store";

export const VIRTUAL_FROM = 100;

export interface Mover {
  move(by: number): void;
  edge(last: boolean): void;
}

/** The list that j and k move in. */
export const mover = store<Mover | null>(null);

interface Props<T> {
  items: T[];
  id: (item: T) => string;
  row: (item: T, index: number) => ReactNode;
  label: string;
  /** Guessed height of a row in pixels. */
  height: number;
  className?: string;
  /** Lists that j and k should not move in. */
  passive?: boolean;
}

export function Rows<T>({ items, id, row, label, height, className, passive }: Props<T>) {
  const box = useRef<HTMLUListElement>(null);
  const large = items.length > VIRTUAL_FROM;
  const [wanted, want] = useState<number | null>(null);
  // Keys may come faster than frames: the next one starts from where the last one was going.
  const going = useRef<number | null>(null);
  const virtual = useVirtualizer({
    count: large ? items.length : 0,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: 12,
    getItemKey: (index) => id(items[index] as T),
  });

  useEffect(() => {
    if (passive) return;
    const at = () => going.current ?? Number((document.activeElement?.closest("[data-index]") as HTMLElement | null)?.dataset["index"] ?? -1);
    const inside = () => box.current?.contains(document.activeElement) ?? false;
    const to = (index: number) => {
      const next = Math.min(items.length - 1, Math.max(0, index));
      if (large) virtual.scrollToIndex(next, { align: "auto" });
      going.current = next;
      want(next);
    };
    const mine: Mover = {
      move: (by) => to(going.current !== null || inside() ? at() + by : by > 0 ? 0 : items.length - 1),
      edge: (last) => to(last ? items.length - 1 : 0),
    };
    const node = box.current;
    const take = () => mover.set(mine);
    if (mover.get() === null || inside()) take();
    node?.addEventListener("focusin", take);
    return () => {
      node?.removeEventListener("focusin", take);
      if (mover.get() === mine) mover.set(null);
    };
  }, [items.length, large, passive, virtual]);

  useEffect(() => {
    if (wanted === null) return;
    // The row may have to be drawn first; it is there in the next frame at the latest.
    const frame = requestAnimationFrame(() => {
      const node = box.current?.querySelector<HTMLElement>(`[data-index="${wanted}"]`);
      const target = node?.querySelector<HTMLElement>("a, button, [tabindex]") ?? node;
      target?.focus();
      if (!target) return;
      going.current = null;
      want(null);
    });
    return () => cancelAnimationFrame(frame);
  });

  if (!large) {
    return (
      <ul ref={box} className={`rows ${className ?? ""}`} aria-label={label}>
        {items.map((item, index) => (
          <li key={id(item)} data-index={index}>
            {row(item, index)}
          </li>
        ))}
      </ul>
    );
  }
  return (
    <ul ref={box} className={`rows virtual ${className ?? ""}`} aria-label={`${label}, ${items.length} in all`} tabIndex={-1}>
      <li role="presentation" className="spacer" style={{ height: virtual.getTotalSize() }} />
      {virtual.getVirtualItems().map((part) => (
        <li
          key={part.key}
          data-index={part.index}
          ref={virtual.measureElement}
          aria-setsize={items.length}
          aria-posinset={part.index + 1}
          style={{ transform: `translateY(${part.start}px)` }}
        >
          {row(items[part.index] as T, part.index)}
        </li>
      ))}
    </ul>
  );
}
