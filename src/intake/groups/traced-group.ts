import type { Span, Tracing } from "../../domain/tracing.ts";
import type { BatcherOptions } from "../queue/batcher.ts";

type RunGroup<Item, Answer> = BatcherOptions<Item, Answer>["run"];

/**
 * One span per group, linked with the requests that brought its members: it belongs to all of them, and runs
 * in the context of none. Where nothing is traced, `run` itself.
 */
export function tracedGroup<Item extends object, Answer>(
  tracing: Tracing | null | undefined,
  name: string,
  run: RunGroup<Item, Answer>,
): RunGroup<Item, Answer> {
  if (!tracing) return run;
  return (group, progress) => {
    const requests = group.flatMap((item) => ("span" in item && item.span ? [item.span as Span] : []));
    const links = requests.map(({ reference }) => reference);
    const attributes = { "tollgate.group.events": group.length };
    return tracing.run(name, { kind: "internal", parent: "none", attributes, links }, (span) => {
      for (const request of requests) request.link(span.reference);
      return run(group, progress);
    });
  };
}
