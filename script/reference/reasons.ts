import { FAILURE_REASONS, type Failure, failureSentence } from "../../src/domain/deliveries/failures.ts";
import { REASONS, type Reason, sentenceOf } from "../../src/domain/refusals/reasons.ts";
import { statusOf } from "../../src/http/status-of.ts";
import { code, table } from "./table.ts";

export function refusalRows(): string {
  const rows = Object.entries(REASONS).map(([reason, { code: refusal, params }]) => {
    const names = "shape" in params ? Object.keys(params.shape) : ["problem"];
    const sentence = withPlaceholders((placeholders) =>
      sentenceOf({ reason: reason as Reason, params: placeholders } as never, null),
    );
    return [code(reason), String(statusOf[refusal]), names.map(code).join(", "), sentence];
  });
  return table(["reason", "status", "params", "sentence"], rows);
}

export function failureRows(): string {
  const rows = FAILURE_REASONS.map((reason) => {
    const names = new Set<string>();
    const sentence = withPlaceholders(
      (placeholders) => failureSentence({ reason, params: placeholders } as unknown as Failure),
      (name) => names.add(name),
    );
    return [code(reason), [...names].map(code).join(", "), sentence];
  });
  return table(["reason", "params", "sentence"], rows);
}

/** A sentence with the names of its parameters; empty where it depends on their values. */
function withPlaceholders(
  sentence: (params: Record<string, unknown>) => string,
  onRead: (name: string) => void = () => {},
): string {
  const placeholders = new Proxy(
    {},
    {
      get: (_, name) => {
        onRead(String(name));
        return `<${String(name)}>`;
      },
    },
  );
  try {
    const text = sentence(placeholders);
    return typeof text === "string" && !/undefined|NaN/.test(text) ? text.replaceAll("<", "\\<") : "";
  } catch {
    return "";
  }
}
