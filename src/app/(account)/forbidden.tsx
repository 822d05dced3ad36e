import { AdminOnlyMessage } from "../admin-only-message.tsx";

export default AdminOnlyMessage;
