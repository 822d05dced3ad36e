import { z } from "zod";
import { REASONS, type Reason } from "../../domain/refusals/reasons.ts";

/** Every reason with its parameters and its sentence, as a Markdown list. */
export function reasonList(): string {
  return (Object.keys(REASONS) as Reason[]).map((reason) => `- ${describeReason(reason)}`).join("\n");
}

function describeReason(reason: Reason): string {
  const { params, sentence } = REASONS[reason];
  const ownSentence = OWN_SENTENCES[reason];
  if (ownSentence !== undefined) return `\`${reason}\`: ${ownSentence}`;
  const shape = params instanceof z.ZodObject ? (params.shape as Record<string, z.ZodType>) : {};
  const placeholders = Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [
      name,
      schema instanceof z.ZodArray ? [`{${name}}`] : `{${name}}`,
    ]),
  );
  return `\`${reason}\`: ${(sentence as (params: unknown) => string)(placeholders)}`;
}

/** Of reasons whose sentence depends on the values of their parameters. */
const OWN_SENTENCES: Partial<Record<Reason, string>> = {
  invalid_input: "the input is invalid; `problem` says how, and `field` names the field at fault",
  not_found: "there is no such {resource}, or it belongs to another user",
  change_not_supported: "the provider does not make this change, or not now; `cause` says why",
  provider_state_unclear: "the provider did not answer clearly, so nothing was changed; `cause` says why",
};
