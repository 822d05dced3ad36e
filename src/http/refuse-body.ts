import { refuse } from "../domain/refusals/refusal.ts";

/** @param expected what a body has to be @throws Refusal `invalid_input` */
export function refuseBody(expected: string): never {
  refuse({ reason: "invalid_input", params: { problem: "unreadable_body", expected } });
}
