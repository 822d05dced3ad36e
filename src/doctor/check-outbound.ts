import type { OutboundState } from "../store/outbound/outbound-state.ts";
import { type Finding, good, skipped, warning } from "./finding.ts";

const CHECK = "outbound events";
/** A server that runs sends an event within seconds, unless the endpoint fails. */
const LATE_AFTER_SECONDS = 10 * 60;

/** Whether other programs receive their events. */
export function checkOutbound({
  endpoints,
  failing,
  disabled,
  backlogSeconds,
  unreadableChanges,
  unreadableEvents,
}: OutboundState): Finding {
  if (disabled > 0) {
    const remedy =
      "Mend the receiver, enable the endpoint on the page Event endpoints, and replay what failed; or delete the endpoint.";
    return warning(
      CHECK,
      `${counted(disabled)} disabled: ${disabled === 1 ? "it" : "each"} failed for five days or responded with 410`,
      remedy,
    );
  }
  if (failing > 0) {
    const remedy = "See the log of attempts on the page Event endpoints. Events wait for five days.";
    return warning(CHECK, `${counted(failing)} failing for an hour or longer`, remedy);
  }
  if (endpoints > 0 && backlogSeconds > LATE_AFTER_SECONDS) {
    const minutes = Math.floor(backlogSeconds / 60);
    return warning(
      CHECK,
      `one has waited for ${minutes} minutes`,
      "Check that a server runs, and the log of attempts on the page Event endpoints.",
    );
  }
  if (unreadableChanges > 0) {
    const changes = unreadableChanges === 1 ? "1 recorded change" : `${unreadableChanges} recorded changes`;
    const remedy =
      "See the error in outbound_unreadable_set, and docs/how-to/when-something-is-wrong.md. They are kept for 30 days.";
    return warning(CHECK, `${changes} could not be read`, remedy);
  }
  if (unreadableEvents > 0) {
    const remedy =
      "See the error in outbound_unreadable_pack, and docs/how-to/when-something-is-wrong.md. They are kept for 30 days.";
    const events = unreadableEvents === 1 ? "1 stored event" : `${unreadableEvents} stored events`;
    return warning(CHECK, `${events} could not be read`, remedy);
  }
  return endpoints === 0
    ? skipped(CHECK, "no endpoint is enabled")
    : good(CHECK, `${endpoints} enabled, none failing`);
}

function counted(endpoints: number): string {
  return endpoints === 1 ? "1 endpoint is" : `${endpoints} endpoints are`;
}
