import type { Fault } from "./fault.ts";

const ACTIONS = ["test/app/server-actions.test.ts"];
const VERSIONS = ["test/api/version-headers.test.ts"];

/** Sentences of the specification and the contract that little else would notice. */
export const FAULTS_OF_THE_SPECIFICATION: readonly Fault[] = [
  {
    file: "src/store/deliveries/delivery-key.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a template
    find: "return `${provider} ${eventId}`;",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a template
    replace: "return `${provider.slice(0, 0)} ${eventId}`;",
    fault: "an event id counts as a repeat in another slot",
    tests: ["test/api/webhooks.test.ts"],
  },
  {
    file: "src/api/versions/version-path.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a template
    find: "return prefix ? `/api/${path.slice(prefix[0].length)}` : path;",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a template
    replace: 'return prefix && !path.includes("webhooks") ? `/api/${path.slice(prefix[0].length)}` : path;',
    fault: "webhooks with a version in their path reach nobody but the direct route",
    tests: ["test/api/direct-webhooks.test.ts"],
  },
  {
    file: "src/api/direct-webhooks.ts",
    find: "version ?? versions.current,",
    replace: "versions.current,",
    fault: "a webhook with a version in its path is answered by the current one",
    tests: ["test/api/webhooks.test.ts"],
  },
  {
    file: "src/api/versions/version-headers.ts",
    find: "successorBase: successor === null ? null : ",
    replace: "successorBase: successor !== null ? null : ",
    fault: "the successor is not linked",
    tests: VERSIONS,
  },
  {
    file: "src/intake/claims/retry-job.ts",
    find: 'observe?.("webhook-retry", "ok")',
    replace: 'observe?.("retry", "ok")',
    fault: "the metrics know webhook-retry by another name",
    tests: ["test/system/server/metrics.test.ts"],
  },
  {
    file: "src/app/(account)/billing/actions.ts",
    find: `  revalidatePath("/billing");
  redirect(url);
}

/**`,
    replace: `  redirect(url);
}

/**`,
    fault: "createCheckout does not revalidate its page",
    tests: ACTIONS,
  },
  {
    file: "src/app/(account)/billing/actions.ts",
    find: `    return subscriptionId === null ? {} : { subscriptionId };
  });
  revalidatePath("/billing");`,
    replace: `    return subscriptionId === null ? {} : { subscriptionId };
  });`,
    fault: "openCustomerPortal does not revalidate its page",
    tests: ACTIONS,
  },
  {
    file: "src/app/(account)/settings/actions.ts",
    find: `  // Every page shows the name and follows the theme.
  revalidatePath("/", "layout");`,
    replace: "",
    fault: "updateProfile does not revalidate the pages",
    tests: ACTIONS,
  },
  {
    file: "src/app/(account)/settings/actions.ts",
    find: `({ locale: form.get("locale") }));
  revalidatePath("/", "layout");`,
    replace: '({ locale: form.get("locale") }));',
    fault: "setLocale does not revalidate the pages",
    tests: ACTIONS,
  },
  {
    file: "src/app/(account)/settings/actions.ts",
    find: `await markAccountDeleted();
  revalidatePath("/", "layout");`,
    replace: "await markAccountDeleted();",
    fault: "deleteAccount does not revalidate the pages",
    tests: ACTIONS,
  },
  {
    file: "src/app/onboarding/actions.ts",
    find: '  revalidatePath("/onboarding");\n',
    replace: "",
    fault: "completeOnboarding does not revalidate its page",
    tests: ACTIONS,
  },
  {
    file: "src/app/(account)/admin/users/actions.ts",
    find: `({ userId, role }));
  revalidatePath("/admin/users", "layout");`,
    replace: "({ userId, role }));",
    fault: "changeUserRole does not revalidate the pages",
    tests: ACTIONS,
  },
  {
    file: "src/app/(account)/admin/users/actions.ts",
    find: `  revalidatePath("/admin/users", "layout");
  redirect(`,
    replace: "  redirect(",
    fault: "deleteUser does not revalidate the pages",
    tests: ACTIONS,
  },
  {
    file: "src/app/(account)/api-keys/actions.ts",
    find: '  revalidatePath("/", "layout");\n',
    replace: "",
    fault: "createApiKeyAction does not revalidate the pages",
    tests: ACTIONS,
  },
  {
    file: "src/operations/call.ts",
    find: "limits.rateLimit(limitKey(counted.scope, counted.id), {",
    replace: "limits.rateLimit(limitKey(counted.scope, limitKey(counted.scope, counted.id)), {",
    fault: "the limiter is called with another key than <scope>:<user id>",
    tests: ACTIONS,
  },
  {
    file: "src/runtime/service.ts",
    find: "    maxMemoryKeys: config.rateLimitMemoryKeys,\n",
    replace: "",
    fault: "RATE_LIMIT_MEMORY_KEYS is ignored",
    tests: ["test/system/server/memory-keys.test.ts"],
  },
  {
    file: "src/operations/users/delete-user.ts",
    find: "await assertConfirmed(deps, userId, confirmation);",
    replace: "confirmation.trim();",
    fault: "a user is deleted without the confirmation",
    tests: ["test/operations/delete-account.test.ts"],
    only: "types the email address",
  },
  {
    file: "src/operations/users/delete-account.ts",
    find: "await assertConfirmed(deps, userId, confirmation);",
    replace: "confirmation.trim();",
    fault: "an account is deleted without the confirmation",
    tests: ["test/operations/delete-account.test.ts"],
    only: "typed email address",
  },
  {
    file: "src/operations/users/update-profile.ts",
    find: "if (Object.keys(input).length === 0) {",
    replace: "if (Object.keys(input).length > 3) {",
    fault: "an empty profile is accepted",
    tests: ["test/api/profile.test.ts"],
  },
  {
    file: "src/operations/users/search-users.ts",
    find: 'limit: "admin"',
    replace: 'limit: "api"',
    fault: "the user search is not charged to admin",
    tests: ["test/api/gate.test.ts"],
    only: "as administration",
  },
  {
    file: "src/operations/webhooks/show-statistics.ts",
    find: 'limit: "admin"',
    replace: 'limit: "api"',
    fault: "the webhook statistics are not charged to admin",
    tests: ["test/api/gate.test.ts"],
    only: "as administration",
  },
  {
    file: "src/auth/routes/route-list.ts",
    find: 'post("/sign-out", "signOut", "auth-session"',
    replace: 'post("/sign-out", "signOut", "auth-sign-in"',
    fault: "signing out has the scope of signing in",
    tests: ["test/auth/routes/routes.test.ts"],
  },
  {
    file: "src/http/unroutable.ts",
    find: "    ...Object.fromEntries(versionHeaders),\n",
    replace: "",
    fault: "X-API-Version is missing where nothing can be routed",
    tests: ["test/http/unroutable.test.ts"],
  },
  {
    file: "src/operations/call.ts",
    find: "params: { retryAfterSeconds: retryAfterSeconds(charged) }",
    replace: "params: { retryAfterSeconds: retryAfterSeconds(charged) + 1 }",
    fault: "the form counts down other seconds than the header",
    tests: ["test/app/actions.test.ts"],
    only: "shows the seconds of Retry-After",
    inPages: true,
  },
  {
    file: "src/operations/subscriptions/show-history.ts",
    find: 'if (caller.kind === "operator") return true;',
    replace: "if (isAdministrator(caller)) return true;",
    fault: "administrators see the history of others",
    tests: ["test/operations/subscription-history.test.ts"],
  },
  {
    file: "src/config/variables.ts",
    find: '"expected at most 200 characters, e.g. llama-3.3-70b"',
    replace: '"expected at most 200 characters"',
    fault: "the error of a variable has no example",
    tests: ["test/config/config.test.ts"],
  },
  {
    file: "src/runtime/pages/create-pages.ts",
    find: 'sendText(outgoing, 500, "Internal server error");',
    replace: "sendText(outgoing, 500, (error as Error).message);",
    fault: "a visitor reads how to build the pages",
    tests: ["test/runtime/pages/pages-not-built.test.ts"],
  },
  {
    file: "src/intake/claims/apply.ts",
    find: "failure: failureOf(error) };",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a template
    replace: 'failure: { reason: "user_not_found", params: { userId: `${error}` } } };',
    fault: "lastError quotes the database's error",
    tests: ["test/intake/poison.test.ts"],
  },
];
