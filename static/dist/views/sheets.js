import{Avatar as te,counted as se,html as v,Problem as ne,Sheet as _,titleOf as I,useEffect as ae,useState as A}from"../app.js";function N({state:e,actions:n,onClose:t}){let[a,r]=A(null),[o,i]=A(""),[u,p]=A("");ae(()=>{n.publicGroups().then(r,l=>i(l.message))},[]);let c=l=>n.join(l).then(t,d=>i(d.message)),b=(a??[]).filter(l=>`${l.name} ${l.id}`.toLowerCase().includes(u.toLowerCase()));return v`
    <${_} title="Public groups" onClose=${t}>
      <${ne} text=${o} />
      <label class="field"><span class="unseen">Search public groups</span><input type="search" placeholder="Search groups" autofocus value=${u}
        onInput=${l=>p(l.target.value)} /></label>
      ${a===null&&!o&&v`<p class="quiet">Loading…</p>`}
      ${a!==null&&b.length===0&&v`<p class="quiet">${a.length===0?"No public groups yet. Create one and let anyone join.":`No groups match \u201C${u}\u201D.`}</p>`}
      <ul class="people">
        ${b.map(l=>v`
          <li key=${l.id} data-public=${l.id}>
            <span class="who"><${te} name=${I(l)} square /><span class="person">${I(l)}<small>${se(l.members,"member")}</small></span></span>
            ${e.groups.has(l.id)?v`<a class="button" href="#${encodeURIComponent(l.id)}" aria-label="Open ${I(l)}" onClick=${t}>Open</a>`:v`<button type="button" class="button primary" aria-label="Join ${I(l)}" onClick=${()=>c(l.id)}>Join</button>`}
          </li>`)}
      </ul>
    </${_}>`}import{Avatar as oe,fullTime as le,html as h,Icon as re,Problem as M,Sheet as O,shortTime as ie,titleOf as ue,useState as k}from"../app.js";function L({state:e,actions:n,onClose:t}){let[a,r]=k(""),[o,i]=k(""),u=[...e.inbox.items].reverse(),p=()=>{r(""),n.clearInbox().catch(c=>r(c.message))};return h`
    <${O} title="Inbox" side onClose=${t}>
      <${M} text=${a} />
      ${!e.inbox.complete&&h`<p class="quiet">Some older items are no longer available.</p>`}
      ${u.length===0&&h`<p class="quiet">You’re all caught up. Direct messages and mentions appear here.</p>`}
      <ul class="items">
        ${u.map(c=>h`<li key=${c.seq} class="item" data-seq=${c.seq} data-kind=${c.kind}><${me} item=${c} groups=${e.groups} onReply=${i} onOpen=${t} /></li>`)}
      </ul>
      ${u.length>0&&h`<p class="buttons"><button type="button" class="button" onClick=${p}>Mark all as read</button></p>`}
      <${pe} key=${o} to=${o} send=${n.direct} />
    </${O}>`}function me({item:e,groups:n,onReply:t,onOpen:a}){let r=n.get(e.group??""),o=r?ue(r):e.group;return h`
    <${oe} name=${e.from??e.group??"?"} />
    <div class="item-text">
      <p class="item-head"><strong>${ce(e,o)}</strong><time datetime=${e.sent_at} title=${le(e.sent_at)}>${ie(e.sent_at)}</time></p>
      ${e.body!==void 0&&h`<p class="item-body">${e.body}</p>`}
      ${e.kind==="direct"&&e.from&&h`<button type="button" class="text-button" onClick=${()=>t(e.from??"")}><${re} name="reply" />Reply</button>`}
      ${r&&h`<a class="text-button" href="#${encodeURIComponent(r.id)}" onClick=${a}>Open ${o}</a>`}
    </div>`}function ce(e,n){switch(e.kind){case"direct":return e.from;case"mention":return`${e.from} mentioned you in ${n}`;case"added":return`${e.from} added you to ${n}`;case"removed":return`${e.from} removed you from ${n}`;case"announcement":return`Announcement${e.from?` from ${e.from}`:""}`;case"schedule_failed":return"A scheduled message could not be sent";default:return e.kind.replaceAll("_"," ")}}function pe({to:e,send:n}){let[t,a]=k(e),[r,o]=k(""),[i,u]=k(""),[p,c]=k("");async function b(l){l.preventDefault(),u(""),c("");try{await n(t.trim(),r.trim()),o(""),c(`Sent to ${t.trim()}.`)}catch(d){u(d.message)}}return h`
    <form class="sheet-foot stack" onSubmit=${b}>
      <h3>Send a direct message</h3>
      <label class="field"><span>To</span><input name="to" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob"
        value=${t} onInput=${l=>a(l.target.value)} /></label>
      <label class="field"><span>Message</span><textarea name="direct" rows="2" required autofocus=${e!==""} value=${r}
        onInput=${l=>o(l.target.value)}></textarea></label>
      <${M} text=${i} />
      <p class="quiet" role="status">${p}</p>
      <button class="button primary">Send</button>
    </form>`}import{Avatar as be,html as f,IconButton as $e,inviteLink as de,Problem as fe,roleOf as he,Sheet as B,titleOf as G,useState as g}from"../app.js";var j={owner:0,admin:1,member:2};function W({state:e,actions:n,group:t,onClose:a}){let[r,o]=g(""),[i,u]=g(!1),p=e.groups.get(t);if(!p)return null;let c=he(e,t),b=c==="owner"||c==="admin",l=[...e.members.get(t)?.values()??[]];l.sort((s,$)=>j[s.role]-j[$.role]||(s.user<$.user?-1:1));let d=s=>(o(""),s.then(()=>!0,$=>(o($.message),!1)));return f`
    <${B} title="Members of ${G(p)}" side onClose=${a}>
      <${fe} text=${r} />
      <${ge} group=${p} manages=${b} />
      ${b&&f`<${ye} owner=${c==="owner"} onAdd=${(s,$)=>d(n.addMember(t,s,$))} />`}
      <ul class="people">
        ${l.map(s=>f`
          <li key=${s.user} data-user=${s.user}>
            <span class="who"><${be} name=${s.user} /><span class="person">${s.user}${s.user===e.me&&f` <small>(you)</small>`}</span></span>
            ${b&&s.role!=="owner"&&s.user!==e.me?f`<span class="controls"><select aria-label="Role of ${s.user}" value=${s.role} onChange=${$=>d(n.addMember(t,s.user,$.target.value))}>
                  <option value="member">Member</option><option value="admin">Admin</option></select>
                  <${$e} icon="close" label="Remove ${s.user}" onClick=${()=>d(n.removeMember(t,s.user))} /></span>`:f`<span class="role">${s.role[0].toUpperCase()}${s.role.slice(1)}</span>`}
          </li>`)}
      </ul>
      ${l.length<p.members&&f`<p class="quiet">and ${(p.members-l.length).toLocaleString()} more</p>`}
      ${b&&f`<${ve} name=${p.name} onSave=${s=>d(n.changeGroup(t,{name:s}))} />
        <${ke} group=${p} onSave=${s=>d(n.changeGroup(t,s))} />`}
      <div class="sheet-foot">
        ${i?f`<p>Leave ${G(p)}?${p.members<=1?" You\u2019re the last member, so the group will be deleted.":""}</p>
              <p class="buttons"><button type="button" class="button danger" onClick=${()=>d(n.leave(t))}>Leave group</button>
              <button type="button" class="button" onClick=${()=>u(!1)}>Cancel</button></p>`:f`<button type="button" class="button" onClick=${()=>u(!0)}>Leave group</button>`}
      </div>
    </${B}>`}function ge({group:e,manages:n}){let[t,a]=g("");async function r(i){i.preventDefault();let u=i.target.elements.invite;u.focus(),u.select();let p=document.execCommand("copy")||await navigator.clipboard?.writeText(u.value).then(()=>!0,()=>!1);a(p?"Link copied.":"Press Ctrl+C to copy the link.")}let o=e.visibility==="public"?"They sign in, and join under \u201CPublic groups\u201D.":n?"They sign in, and you add them by name below.":"They sign in, and the owner or an admin adds them.";return f`
    <form class="row-form" name="invite" onSubmit=${r}>
      <label class="field"><span>Invite link</span>
        <input name="invite" readonly value=${de(e.id)} onFocus=${i=>i.target.select()} />
        <small role="status">${t||o}</small></label>
      <button class="button">Copy</button>
    </form>`}function ye({onAdd:e}){let[n,t]=g(""),[a,r]=g("member");async function o(i){i.preventDefault(),await e(n.trim(),a)&&t("")}return f`
    <form class="row-form" onSubmit=${o}>
      <label class="field"><span>Add member</span>
        <input name="user" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob" value=${n}
          onInput=${i=>t(i.target.value)} /></label>
      <select aria-label="Role" value=${a} onChange=${i=>r(i.target.value)}>
        <option value="member">Member</option><option value="admin">Admin</option></select>
      <button class="button primary">Add</button>
    </form>`}function ve({name:e,onSave:n}){let[t,a]=g(e);return f`
    <form class="row-form" onSubmit=${o=>{o.preventDefault(),n(t.trim())}}>
      <label class="field"><span>Group name</span>
        <input name="group-name" maxlength="200" autocomplete="off" value=${t} onInput=${o=>a(o.target.value)} /></label>
      <button class="button" disabled=${t.trim()===e}>Rename</button>
    </form>`}function ke({group:e,onSave:n}){let[t,a]=g(String(e.keep??"")),[r,o]=g(String(e.retain_days??"")),i=e.retain_days!==void 0,u={};return t!==""&&Number(t)!==e.keep&&(u.keep=Number(t)),i&&r!==""&&Number(r)!==e.retain_days&&(u.retain_days=Number(r)),f`
    <form class="stack" name="retention" onSubmit=${c=>{c.preventDefault(),n(u)}}>
      <label class="field"><span>Recent messages to keep</span>
        <input type="number" name="keep" required min="0" max="100000" value=${t} onInput=${c=>a(c.target.value)} />
        <small>They stay even when everyone has read them. With an archive, older ones stay available too.</small></label>
      ${i&&f`
        <label class="field"><span>Days until messages are removed</span>
          <input type="number" name="retain_days" required min="0" max="36500" value=${r} onInput=${c=>o(c.target.value)} />
          <small>0 keeps them forever. The server may have a shorter limit.</small></label>`}
      <button class="button" disabled=${Object.keys(u).length===0}>Save</button>
    </form>`}import{html as we,newKey as xe,Problem as Se,Sheet as U,useRef as Ce,useState as z}from"../app.js";function F({actions:e,onClose:n}){let[t,a]=z(""),[r,o]=z(!1),i=Ce({content:"",key:""});async function u(p){p.preventDefault();let c=new FormData(p.target),b=$=>String(c.get($)??"").trim(),l=b("members").split(/[\s,]+/).filter(Boolean),d={name:b("name"),id:b("id")||void 0,visibility:b("visibility"),members:l.length>0?l:void 0},s=JSON.stringify(d);i.current.content!==s&&(i.current={content:s,key:xe()}),o(!0),a("");try{await e.createGroup(d,i.current.key),n()}catch($){a($.code==="exists"?"This ID is already in use. Choose another one.":$.message),o(!1)}}return we`
    <${U} title="New group" onClose=${n}>
      <form class="stack" onSubmit=${u}>
        <label class="field"><span>Name</span><input name="name" required autofocus maxlength="200" autocomplete="off" placeholder="Weekend trip" /></label>
        <label class="field"><span>Members</span><input name="members" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob, carol" />
          <small>Separate names with commas. You can add more people later.</small></label>
        <fieldset class="choice">
          <legend>Who can join</legend>
          <label><input type="radio" name="visibility" value="private" checked /><span><strong>Private</strong><small>Only people you add</small></span></label>
          <label><input type="radio" name="visibility" value="public" /><span><strong>Public</strong><small>Anyone on this server</small></span></label>
        </fieldset>
        <details><summary>Set a custom ID</summary>
          <label class="field"><span class="unseen">Custom ID</span><input name="id" maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="weekend-trip" />
            <small>The group’s name in the API: letters, digits and . _ - @ + | : only. It can’t be changed later.</small></label></details>
        <${Se} text=${t} />
        <button class="button primary wide" disabled=${r}>Create group</button>
      </form>
    </${U}>`}import{Avatar as Ie,counted as qe,html as C,Problem as Pe,Sheet as J,useEffect as Re,useState as K}from"../app.js";function Y({state:e,actions:n,group:t,id:a,onClose:r}){let[o,i]=K(null),[u,p]=K(""),c=e.members.get(t);Re(()=>{let s=!1;return n.receipts(t,a).then($=>{s||i($)},$=>{s||p($.message)}),()=>{s=!0}},[c]);let b=o?.seen_by??[],l=b.filter(s=>s.read>=a).map(s=>s.user),d=b.filter(s=>s.read<a).map(s=>s.user);return C`
    <${J} title="Read receipts" side onClose=${r}>
      <${Pe} text=${u} />
      ${!o&&!u&&C`<p class="quiet">Loading…</p>`}
      ${o&&C`
        <p class="lead">Read by ${o.read} of ${qe(o.members,"member")}.</p>
        <${T} title="Read" users=${l} name="read" />
        <${T} title="Delivered" users=${d} name="seen" />
        <${T} title="Not delivered yet" users=${o.pending??[]} name="pending" />`}
    </${J}>`}var T=({title:e,users:n,name:t})=>n.length>0&&C`
  <section data-receipts=${t}>
    <h3>${e}</h3>
    <ul class="people">${n.map(a=>C`<li key=${a} data-user=${a}><span class="who"><${Ie} name=${a} /><span class="person">${a}</span></span></li>`)}</ul>
  </section>`;import{Avatar as Ae,fullTime as E,html as y,Problem as Te,Sheet as H,shortTime as De,titleOf as _e,useRef as Ne,useState as w}from"../app.js";function Q({state:e,actions:n,group:t="",onClose:a}){let[r,o]=w(""),[i,u]=w(t),[p,c]=w(!1),[b,l]=w(null),[d,s]=w(""),[$,q]=w(!1),x=Ne(0);async function D(m,ee){let R=++x.current;q(!0),s("");try{let S=await n.search({q:r.trim(),group:i,sort:p?"best":"newest",cursor:ee});R===x.current&&l({hits:[...m,...S.hits],next:S.next,before:S.incomplete_before})}catch(S){R===x.current&&s(S.message)}R===x.current&&q(!1)}function P(){x.current++,l(null),q(!1),s("")}function V(m){m.preventDefault(),P(),r.trim()&&D([],"")}let X=m=>_e(e.groups.get(m)??{id:m,name:""}),Z=m=>{a(),n.goTo(m.message.group,m.message.id)};return y`
    <${H} title="Search messages" side onClose=${a}>
      <form class="stack" role="search" onSubmit=${V}>
        <div class="row-form">
          <label class="field"><span class="unseen">Search messages</span>
            <input type="search" name="q" autofocus maxlength="250" autocomplete="off" enterkeyhint="search" placeholder="Words, “a phrase”, -without" value=${r}
              onInput=${m=>o(m.target.value)} /></label>
          <button class="button primary" disabled=${!r.trim()}>Search</button>
        </div>
        <div class="row-form">
          ${t&&y`
            <select aria-label="Where to search" value=${i} onChange=${m=>{u(m.target.value),P()}}>
              <option value=${t}>This group</option><option value="">All groups</option></select>`}
          <select aria-label="Order" value=${p?"best":"newest"} onChange=${m=>{c(m.target.value==="best"),P()}}>
            <option value="newest">Newest first</option><option value="best">Best match first</option></select>
        </div>
      </form>
      <${Te} text=${d} />
      <p class="quiet" role="status">${$?"Searching\u2026":b?.hits.length===0?"No messages found.":""}</p>
      ${b?.before&&y`<p class="quiet">Messages sent after ${E(b.before)} may be missing.</p>`}
      <ul class="items hits" aria-label="Messages found">
        ${(b?.hits??[]).map(m=>y`
          <li key=${`${m.message.group} ${m.message.id}`}>
            <button type="button" class="item hit" data-hit="${m.message.group}/${m.message.id}" onClick=${()=>Z(m)}>
              <${Ae} name=${m.message.from} />
              <span class="item-text">
                <span class="item-head"><strong>${m.message.from}</strong>
                  <time datetime=${m.message.sent_at} title=${E(m.message.sent_at)}>${De(m.message.sent_at)}</time></span>
                ${!i&&y`<small>${X(m.message.group)}</small>`}
                <span class="item-body">${Oe(m.snippet)}</span>
              </span>
            </button>
          </li>`)}
      </ul>
      ${b?.next&&y`<button type="button" class="button" disabled=${$} onClick=${()=>D(b.hits,b.next??"")}>Show more</button>`}
    </${H}>`}function Oe({text:e,marks:n}){let t=[],a=0;for(let[r,o]of n)t.push(e.slice(a,r),y`<mark>${e.slice(r,o)}</mark>`),a=o;return[...t,e.slice(a)]}var et={browse:N,inbox:L,members:W,new:F,receipts:Y,search:Q};export{et as sheets};
//# sourceMappingURL=sheets.js.map
