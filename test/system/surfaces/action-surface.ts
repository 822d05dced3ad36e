import {
  type ActionAnswer,
  callAction,
  encodeArguments,
  type Fields,
  findServerAction,
  listServerActions,
} from "../../support/server-action.ts";
import type { Case } from "./case.ts";
import { CASES } from "./cases.ts";
import { addressOf } from "./cast.ts";
import { inFormWords, REPLAYED } from "./form-words.ts";
import { type Difference, entranceTo, type Input, limitsIn, type Surface, type Verdict } from "./surface.ts";

const LEADS_TO: Surface["leadsTo"] = {
  submitProfile: ["users.updateProfile"],
  submitLocale: ["users.setLocale"],
  submitDeleteAccount: ["users.deleteAccount"],
  submitComplete: ["users.completeOnboarding"],
  submitCheckout: ["billing.createCheckout"],
  submitOpenPortal: ["billing.openPortal"],
  submitCreateKey: ["apiKeys.create"],
  submitRevokeKey: ["apiKeys.revoke"],
  submitMarkRead: ["notifications.markRead"],
  submitMarkAllRead: ["notifications.markAllRead"],
  submitRole: ["users.changeRole"],
  submitDeleteUser: ["users.delete"],
  submitReplay: ["webhooks.replay"],
  submitReconcile: ["subscriptions.reconcile"],
  // Steps of the onboarding: the same once more.
  submitName: ["users.updateProfile"],
  submitPreferences: ["users.setLocale", "users.updateProfile"],
  // Through Better Auth's door.
  submitSignUp: [],
  submitSignIn: [],
  submitForgottenPassword: [],
  submitResetPassword: [],
  submitPassword: [],
};

const OFFERED = [...new Set(Object.values(LEADS_TO).flat())];

/** The new state is on the page; little is said besides. */
const SHOWN: Record<string, Difference["shows"]> = {
  "webhooks.replay": ({ outcome }) => ({ tone: "good", sentence: REPLAYED[outcome] }),
};

/** The pages' forms, as scripts of the pages send them. */
export const actionSurface: Surface = {
  name: "forms",
  scope: null,
  showsMore: true,
  get entrances() {
    const forms = listServerActions().filter(({ file }) => file.endsWith("/forms.ts"));
    return forms.map(({ name }) => name);
  },
  leadsTo: LEADS_TO,
  differs: Object.fromEntries(OFFERED.map((operation) => [operation, differenceOf(operation)])),
  cannotSay: () => false,
  call: async (serverUrl, operation, caller, input) => {
    const action = findServerAction(entranceTo(actionSurface, operation), "forms.ts");
    const about = String(input.userId || input.id || "-");
    const path = (action.pages[0] as string).replace("[id]", encodeURIComponent(about));
    const body = encodeArguments([null, fieldsOf(operation, input)]);
    const answer = await callAction(serverUrl, action, body, { ...caller, path });
    return { ...said(answer), ...limitsIn(answer) };
  },
};

function differenceOf(operation: string): Difference {
  const { may } = CASES[operation] as Case;
  return {
    // Keys are for programs: to a page their holders are nobody.
    may: { ...may, key: "unauthorized", adminKey: "unauthorized" },
    ...(operation === "apiKeys.create" ? {} : { shows: SHOWN[operation] ?? (() => null) }),
    says: inFormWords,
  };
}

/** What is to be confirmed besides is confirmed. */
function fieldsOf(operation: string, { preferences, ...input }: Input): Fields {
  const given = Object.entries({ ...(preferences as Input | undefined), ...input }).filter(
    ([, value]) => value !== false,
  );
  const fields = Object.fromEntries(
    given.map(([name, value]) => [name, value === true ? "on" : String(value)]),
  );
  if (operation === "users.delete") return { ...fields, confirmation: addressOf(fields.userId ?? "") };
  if (operation === "apiKeys.revoke") return { ...fields, name: "CI", [`confirm-${fields.id}`]: "CI" };
  return fields;
}

type Returned = { done: boolean; value?: unknown; code?: Verdict; message?: string };

function said({ redirect, returned, text }: ActionAnswer) {
  if (redirect !== null) {
    const verdict: Verdict = /^\/sign-in\b/.test(redirect) ? "unauthorized" : "ok";
    return { verdict, message: null, output: null };
  }
  if (!returned) throw new Error(text);
  const { done, value = null, code, message } = returned as Returned;
  return { verdict: done ? ("ok" as const) : (code as Verdict), message: message ?? null, output: value };
}
