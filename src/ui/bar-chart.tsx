import { useId } from "react";
import { classes } from "./classes.ts";
import { stackBars } from "./stack-bars.ts";

/** Each has a pattern besides its colour. */
type Tone = "good" | "bad" | "warn";

export type Series = { tone: Tone; label: string /** Of all columns, in labels. */; total: string };

export type BarColumn = {
  /** Of the column, e.g. its hour. */
  label: string;
  /** One per series. */
  counts: readonly number[];
  /** The whole content as text, shown on hover. */
  title: string;
};

const HEIGHT = 64;

/** A stacked bar chart over time, with the same numbers in a table below. */
export function BarChart({
  summary,
  series,
  columns,
  labelEvery,
  formatNumber,
  labels,
}: {
  /** What the chart shows, in one sentence. */
  summary: string;
  series: readonly Series[];
  columns: readonly BarColumn[];
  labelEvery: number;
  formatNumber: (number: number) => string;
  labels: Record<"asTable" | "column", string>;
}) {
  const id = useId();
  const { top, columns: stacked } = stackBars(
    columns.map(({ counts }) => counts),
    HEIGHT,
  );
  const width = 100 / columns.length;
  const scale = top === 1 ? [1, 0] : [top, top / 2, 0];
  return (
    <figure>
      <ul className="mb-4 flex flex-wrap gap-x-6 gap-y-1">
        {series.map(({ tone, label, total }) => (
          <li key={label} className="flex items-center gap-2">
            <svg aria-hidden="true" width="14" height="14" className="shrink-0">
              <Pattern id={`${id}-key-${tone}`} tone={tone} />
              <rect width="14" height="14" rx="3" fill={`url(#${id}-key-${tone})`} />
            </svg>
            <span className="text-muted">{label}</span>
            <span className="font-medium tabular-nums">{total}</span>
          </li>
        ))}
      </ul>
      <div className="flex gap-3">
        <div
          aria-hidden="true"
          className="-my-2.5 flex h-[84px] shrink-0 flex-col justify-between text-right text-muted text-sm tabular-nums"
        >
          {scale.map((number) => (
            <span key={number}>{formatNumber(number)}</span>
          ))}
        </div>
        <svg
          role="img"
          aria-label={summary}
          width="100%"
          height={HEIGHT + 28}
          className="min-w-0 shrink overflow-visible"
        >
          {series.map(({ tone }) => (
            <Pattern key={tone} id={`${id}-${tone}`} tone={tone} />
          ))}
          {scale.map((number) => {
            const y = HEIGHT - (number / top) * HEIGHT;
            return (
              <line key={number} x1="0" x2="100%" y1={y} y2={y} className="stroke-line" strokeWidth="1" />
            );
          })}
          {columns.map((column, at) => (
            <g key={column.label}>
              <title>{column.title}</title>
              <rect
                x={`${at * width}%`}
                width={`${width}%`}
                y="0"
                height={HEIGHT}
                className="fill-transparent hover:fill-raised"
              />
              {stacked[at]?.map(({ series: which, y, height }) => (
                <rect
                  key={which}
                  x={`${(at + 0.15) * width}%`}
                  width={`${width * 0.7}%`}
                  y={y}
                  height={height}
                  className="pointer-events-none"
                  fill={`url(#${id}-${series[which]?.tone})`}
                />
              ))}
            </g>
          ))}
          {columns.map(
            ({ label }, at) =>
              at % labelEvery === 0 && (
                <text
                  key={label}
                  x={`${(at + 0.15) * width}%`}
                  y={HEIGHT + 20}
                  className="fill-muted text-sm"
                >
                  {label}
                </text>
              ),
          )}
        </svg>
      </div>
      <details className="mt-2">
        <summary className="w-fit py-1 text-muted text-sm">{labels.asTable}</summary>
        <table className="mt-2 w-full max-w-lg wrap-anywhere text-sm tabular-nums">
          <caption className="sr-only">{summary}</caption>
          <thead>
            <tr>
              <th scope="col" className="py-1 text-left font-medium">
                {labels.column}
              </th>
              {series.map(({ label }) => (
                <th key={label} scope="col" className="py-1 text-right font-medium">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {columns.map(({ label, counts }) => (
              <tr key={label}>
                <th scope="row" className="border-line border-t py-1 text-left font-normal">
                  {label}
                </th>
                {counts.map((count, at) => (
                  <td key={series[at]?.label} className="border-line border-t py-1 text-right">
                    {formatNumber(count)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

const FILLS: Record<Tone, string> = { good: "fill-good", bad: "fill-bad", warn: "fill-warn" };

/** Plain, striped or dotted, so that the series differ without colour, too. */
function Pattern({ id, tone }: { id: string; tone: Tone }) {
  return (
    <pattern
      id={id}
      width="6"
      height="6"
      patternUnits="userSpaceOnUse"
      {...(tone === "bad" ? { patternTransform: "rotate(45)" } : {})}
    >
      <rect width="6" height="6" className={classes(FILLS[tone])} />
      {tone === "bad" && <rect width="2" height="6" className="fill-surface" />}
      {tone === "warn" && <circle cx="3" cy="3" r="1.5" className="fill-surface" />}
    </pattern>
  );
}
