import type { z } from "zod";
import { changeSubscription } from "../../operations/billing/change-subscription.ts";
import { createCheckout } from "../../operations/billing/create-checkout.ts";
import { openPortal } from "../../operations/billing/open-portal.ts";
import { checkEntitlement } from "../../operations/entitlements/check-entitlement.ts";
import { showEntitlements } from "../../operations/entitlements/show-entitlements.ts";
import { listNotifications } from "../../operations/notifications/list-notifications.ts";
import { markOneOrAllRead } from "../../operations/notifications/mark-one-or-all-read.ts";
import { unreadCount } from "../../operations/notifications/unread-count.ts";
import { listPayments } from "../../operations/payments/list-payments.ts";
import { listFeatures } from "../../operations/plans/list-features.ts";
import { listPlans } from "../../operations/plans/list-plans.ts";
import { createServiceKey } from "../../operations/service-keys/create-service-key.ts";
import { listServiceKeys } from "../../operations/service-keys/list-service-keys.ts";
import { revokeServiceKey } from "../../operations/service-keys/revoke-service-key.ts";
import { rotateServiceKey } from "../../operations/service-keys/rotate-service-key.ts";
import { currentSubscription } from "../../operations/subscriptions/current-subscription.ts";
import { dismissSubscription } from "../../operations/subscriptions/dismiss-subscription.ts";
import { reconcileSubscription } from "../../operations/subscriptions/reconcile-subscription.ts";
import { changeRole } from "../../operations/users/change-role.ts";
import { completeOnboarding } from "../../operations/users/complete-onboarding.ts";
import { deleteAccount } from "../../operations/users/delete-account.ts";
import { deleteUser } from "../../operations/users/delete-user.ts";
import { listAllUsers } from "../../operations/users/list-all-users.ts";
import { renameUser } from "../../operations/users/rename-user.ts";
import { setLocale } from "../../operations/users/set-locale.ts";
import { showProfile } from "../../operations/users/show-profile.ts";
import type { UserView } from "../../operations/users/user-view.ts";
import { listDeliveries } from "../../operations/webhooks/list-deliveries.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import { adminProcedure, protectedProcedure, publicProcedure, router } from "./procedures.ts";

/** Every operation available over RPC, one per line. */
export const appRouter = router({
  user: {
    me: protectedProcedure.query(showProfile, { show: toMe, missing: null }),
    updateProfile: protectedProcedure.mutation(renameUser, { show: toSuccess }),
    setLocale: protectedProcedure.mutation(setLocale, { show: toSuccess }),
    completeOnboarding: protectedProcedure.mutation(completeOnboarding, { show: toSuccess }),
    deleteAccount: protectedProcedure.mutation(deleteAccount),
    list: adminProcedure.query(listAllUsers),
    changeRole: adminProcedure.mutation(changeRole),
    delete: adminProcedure.mutation(deleteUser),
  },
  billing: {
    plans: publicProcedure.query(listPlans),
    features: publicProcedure.query(listFeatures),
    subscription: protectedProcedure.query(currentSubscription),
    payments: protectedProcedure.query(listPayments),
    entitlements: protectedProcedure.query(showEntitlements),
    check: protectedProcedure.query(checkEntitlement),
    changeSubscription: protectedProcedure.mutation(changeSubscription),
    createCheckout: protectedProcedure.mutation(createCheckout),
    openPortal: protectedProcedure.mutation(openPortal),
    deliveries: adminProcedure.query(listDeliveries),
    replay: adminProcedure.mutation(replayDelivery),
    reconcile: adminProcedure.mutation(reconcileSubscription),
    dismiss: adminProcedure.mutation(dismissSubscription),
  },
  notifications: {
    list: protectedProcedure.query(listNotifications),
    unreadCount: protectedProcedure.query(unreadCount),
    markRead: protectedProcedure.mutation(markOneOrAllRead),
  },
  serviceKeys: {
    list: adminProcedure.query(listServiceKeys),
    create: adminProcedure.mutation(createServiceKey),
    rotate: adminProcedure.mutation(rotateServiceKey),
    revoke: adminProcedure.mutation(revokeServiceKey),
  },
});

function toMe({ id, name, email }: z.input<typeof UserView>): { id: string; name: string; email: string } {
  return { id, name, email };
}

function toSuccess(): { success: true } {
  return { success: true };
}
