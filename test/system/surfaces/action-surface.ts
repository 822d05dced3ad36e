import {
  type ActionAnswer,
  type Fields,
  findServerAction,
  listServerActions,
  submitAction,
} from "../../support/server-action.ts";
import type { Case } from "./cases/case.ts";
import { CASES } from "./cases/cases.ts";
import { formText, REPLAYED, replayedText } from "./form-text.ts";
import { type Difference, entranceTo, type Input, limitsIn, type Surface, type Verdict } from "./surface.ts";

const LEADS_TO: Surface["leadsTo"] = {
  updateProfile: ["users.updateProfile"],
  setLocale: ["users.setLocale"],
  deleteAccount: ["users.deleteAccount"],
  completeOnboarding: ["users.completeOnboarding"],
  createCheckout: ["billing.createCheckout"],
  changeSubscription: ["billing.changeSubscription"],
  openCustomerPortal: ["billing.openPortal"],
  createApiKeyAction: ["apiKeys.create"],
  deleteApiKeyAction: ["apiKeys.revoke"],
  markRead: ["notifications.markRead"],
  markAllRead: ["notifications.markAllRead"],
  changeUserRole: ["users.changeRole"],
  deleteUser: ["users.delete"],
  replayDelivery: ["webhooks.replay"],
  reconcileSubscription: ["subscriptions.reconcile"],
  dismissSubscription: ["subscriptions.dismiss"],
  createServiceKey: ["serviceKeys.create"],
  rotateServiceKey: ["serviceKeys.rotate"],
  revokeServiceKey: ["serviceKeys.revoke"],
  createEventEndpoint: ["eventEndpoints.create"],
  updateEventEndpoint: ["eventEndpoints.update"],
  deleteEventEndpoint: ["eventEndpoints.delete"],
  testEventEndpoint: ["eventEndpoints.test"],
  replayEventDeliveries: ["eventEndpoints.replay"],
  // Steps of the onboarding: the same actions again.
  saveName: ["users.updateProfile"],
  savePreferences: ["users.setLocale", "users.updateProfile"],
  // Better Auth's.
  signUp: [],
  signIn: [],
  signOut: [],
  requestPasswordReset: [],
  resetPassword: [],
  changePassword: [],
  changeEmail: [],
  confirmEmail: [],
  confirmEmailChange: [],
  signInWithCode: [],
  signInWithBackupCode: [],
  enableTwoFactor: [],
  confirmTwoFactor: [],
  disableTwoFactor: [],
  createBackupCodes: [],
  // On pages only, or below /api/auth.
  createCalendarLink: [],
  revokeCalendarLink: [],
  revokeSession: [],
  revokeOtherSessions: [],
  // The target of all forms.
  submitForm: [],
};

const OFFERED = [...new Set(Object.values(LEADS_TO).flat())];

/** The page shows the new state; the action returns little else. */
const SHOWN: Record<string, Difference["shows"]> = {
  "webhooks.replay": ({ outcome }) => ({ tone: "good", text: REPLAYED[outcome] }),
  "eventEndpoints.test": ({ error }) => ({ tone: "bad", text: `Not delivered: ${error}` }),
  "eventEndpoints.replay": ({ replayed }) => ({ tone: "good", text: replayedText(replayed) }),
};

/** A new secret is shown, this once, and so is what it belongs to. */
const SHOWN_WHOLE = [
  "apiKeys.create",
  "serviceKeys.create",
  "serviceKeys.rotate",
  "eventEndpoints.create",
  "eventEndpoints.update",
];

/** The pages' forms, as scripts of the pages send them. */
export const actionSurface: Surface = {
  name: "forms",
  scope: null,
  showsMore: true,
  hidesReasons: true,
  get entrances() {
    return listServerActions().map(({ name }) => name);
  },
  leadsTo: LEADS_TO,
  differs: Object.fromEntries(OFFERED.map((operation) => [operation, differenceOf(operation)])),
  refusesInput: () => false,
  call: async (serverUrl, operation, caller, input) => {
    const action = findServerAction(entranceTo(actionSurface, operation));
    const about = String(input.userId || input.id || "-");
    const path = (action.pages[0] as string).replace("[id]", encodeURIComponent(about));
    const response = await submitAction(serverUrl, action, fieldsOf(operation, input), { ...caller, path });
    return { ...outcomeOf(response), ...limitsOfOperations(response) };
  },
};

function differenceOf(operation: string): Difference {
  const { may } = CASES[operation] as Case;
  return {
    // Keys are for programs: pages treat their holders as signed out.
    may: { ...may, key: "unauthorized", adminKey: "unauthorized" },
    ...(SHOWN_WHOLE.includes(operation) ? {} : { shows: SHOWN[operation] ?? (() => null) }),
    says: formText,
  };
}

/** With the confirmation that a form also requires. */
function fieldsOf(
  operation: string,
  { preferences, types, permissions, deliveryIds, ...input }: Input & Partial<Record<ListField, string[]>>,
): Fields {
  const boxes: Input = { ...checked("types", types), ...checked("permissions", permissions) };
  const chosen: Input = deliveryIds === undefined ? {} : { deliveryId: deliveryIds[0] };
  const values = Object.entries({
    ...(preferences as Input | undefined),
    ...boxes,
    ...chosen,
    ...input,
  }).filter(([, value]) => value !== false);
  const fields = Object.fromEntries(
    values.map(([name, value]) => [name, value === true ? "on" : String(value)]),
  );
  if (operation === "apiKeys.revoke") return { ...fields, name: "CI", confirmation: "CI" };
  return fields;
}

type ListField = "types" | "permissions" | "deliveryIds";

function checked(group: string, values: readonly string[] = []): Input {
  return Object.fromEntries(values.map((value) => [`${group}.${value}`, true]));
}

/** Without what else a form is charged for: the page, and signing out after the account was deleted. */
function limitsOfOperations(answer: ActionAnswer): ReturnType<typeof limitsIn> {
  const { remaining: all, lowest, ...rest } = limitsIn(answer);
  const { pages: _pages, "auth-session": _session, ...remaining } = all;
  const remainders = Object.values(remaining);
  return {
    ...rest,
    remaining,
    lowest: remainders.length > 0 && lowest !== null ? Math.min(...remainders) : null,
  };
}

type Returned = { done: boolean; value?: unknown; code?: Verdict; message?: string };

function outcomeOf({ redirect, returned, text }: ActionAnswer) {
  if (redirect !== null) {
    const verdict: Verdict = /^\/sign-in\b/.test(redirect) ? "unauthorized" : "ok";
    return { verdict, message: null, reason: null, output: null };
  }
  if (!returned) throw new Error(text);
  const { done, value = null, code, message } = returned as Returned;
  const verdict = done ? ("ok" as const) : (code as Verdict);
  return { verdict, message: message ?? null, reason: null, output: value };
}
